# embedded-atom potential EAM1 of Mishin et al. (2001)
pair_style eam/alloy
pair_coeff * * /home/simulation/potentials/Cu_mishin1.eam.alloy Cu
neighbor 1.0 bin
neigh_modify every 1 delay 0 check yes
