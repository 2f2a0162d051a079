-- One token may have many sessions and links, but not without end: the oldest are found by this.

create index passes_by_holder on passes (holder, once, expires_at);
