"""How fast logs are validated: one big log that is made for it, judged by everybody in turn, each a process of its own."""
