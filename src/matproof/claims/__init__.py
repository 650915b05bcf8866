"""What a claim is: its models, its package on disk, its checks and importers. Stands on `core` alone."""
