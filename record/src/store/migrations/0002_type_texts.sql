-- The texts of a debate's type, where it is not a built-in one as it came: what its roles go by must
-- be known to agents in other folders and on other machines, and must not change under a debate.

create table type_texts (
    debate_key integer primary key references debates (key),
    title text not null,
    description text not null,
    proposer text not null,
    opponent text not null,
    arbitrator text not null
);

create trigger type_texts_never_change before update on type_texts
begin
    select raise(abort, 'the texts of a debate''s type are never changed');
end;
create trigger type_texts_never_go before delete on type_texts
begin
    select raise(abort, 'the texts of a debate''s type are never deleted');
end;
