"""The rules that environments are held to: their catalogue, by block, and how a rule is explained."""
