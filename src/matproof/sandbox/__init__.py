"""Where an agent's processes run: the policy, the engines that enforce it, and what each really enforced."""
