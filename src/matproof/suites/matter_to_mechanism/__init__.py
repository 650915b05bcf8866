"""Matter to Mechanism: how well hypotheses about battery materials are reasoned, scored without a model."""
