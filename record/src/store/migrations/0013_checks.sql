-- A check with `in` and three or more words makes SQLite build a table of the words whenever it runs a
-- statement that writes the column. A submit built three of them. These checks compare one word after
-- the other instead. They allow the same words, so no row has to be looked at.
pragma writable_schema = on;

update sqlite_schema set sql = replace(sql,
    'state in (
        ''AWAITING_OPPONENT'', ''AWAITING_PROPOSER'', ''AWAITING_ARBITRATOR'', ''INTERVENTION_PENDING'', ''CLOSED''
    )',
    'state = ''AWAITING_OPPONENT'' or state = ''AWAITING_PROPOSER'' or state = ''AWAITING_ARBITRATOR''
        or state = ''INTERVENTION_PENDING'' or state = ''CLOSED''')
where name = 'debates';

update sqlite_schema set sql = replace(replace(sql,
    'type in (''MOTION'', ''CLAIM'', ''APPEAL'', ''RULING'', ''INTERVENTION'', ''RESOLUTION'')',
    'type = ''MOTION'' or type = ''CLAIM'' or type = ''APPEAL'' or type = ''RULING''
        or type = ''INTERVENTION'' or type = ''RESOLUTION'''),
    'role in (''proposer'', ''opponent'', ''arbitrator'')',
    'role = ''proposer'' or role = ''opponent'' or role = ''arbitrator''')
where name = 'arguments';

update sqlite_schema set sql = replace(sql,
    'thing in (''debate'', ''citations'', ''document'')',
    'thing = ''debate'' or thing = ''citations'' or thing = ''document''')
where name = 'seals';

update sqlite_schema set sql = replace(sql,
    'subject in (''NEW'', ''VERDICT'', ''P'')',
    'subject = ''NEW'' or subject = ''VERDICT'' or subject = ''P''')
where name = 'point_turns';

-- The tables of points are caches that verification works out again, so nothing relies on their
-- references, which cost a lookup for every row.
update sqlite_schema set sql =
    replace(replace(sql, ' references debates (key)', ''), ' references documents (key)', '')
where type = 'table' and name in ('points', 'point_documents', 'point_turns', 'point_quotes');

-- The turns of a debate are few enough to read them all.
drop index point_turns_by_point;

pragma writable_schema = reset;
