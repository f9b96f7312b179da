"""From every form in which predictions come to the same columns, checked."""
