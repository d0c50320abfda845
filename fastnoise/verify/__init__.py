"""`fastnoise verify`: what is promised, checked on this machine."""
