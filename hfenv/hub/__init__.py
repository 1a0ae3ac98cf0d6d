"""The Hub as hfenv uses it: references, resolving, push, pull and the verified cache."""
