-- The older system took any text as the id of a debate. Such a debate has a UUID here, worked out from
-- that text, and is still found by the text.

create table former_ids (
    debate_key integer primary key references debates (key),
    id text not null unique
);

create trigger former_ids_never_change before update on former_ids
begin
    select raise(abort, 'former ids are never changed');
end;
create trigger former_ids_never_go before delete on former_ids
begin
    select raise(abort, 'former ids are never deleted');
end;
