"""Claude Code without a person before it, and the same client on another provider's model."""
