"""What people configure: the campaign, agent settings, judges, providers and prices."""
