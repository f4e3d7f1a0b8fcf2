-- The results of classes. A class is what `attn grade --to NAME` names.
create table class (
    id serial primary key,
    name text not null unique,
    made timestamptz not null default now()
);

-- One row for each report: the one that counts (attempt is empty), and those of single attempts.
-- content is the text of the report's file, byte for byte. The other columns are its line in the journal.
create table report (
    class integer not null references class on delete cascade,
    module text not null,
    student text not null,
    attempt text not null,
    number bigserial, -- in the order in which reports came first
    content json not null,
    sha256 text not null,
    provenance json not null,
    replaced json,
    mark json,
    earlier json, -- the report from before this round of grading, if this round changed it
    written timestamptz not null default now(),
    primary key (class, module, student, attempt)
);

-- What the instructor decided about undecided points, in the order of the decisions.
create table decision (
    class integer not null references class on delete cascade,
    position integer not null,
    module text not null,
    student text not null,
    record json not null,
    primary key (class, position)
);
create index on decision (class, module, student);

-- Points and comments by hand.
create table override (
    class integer not null references class on delete cascade,
    position integer not null,
    module text not null,
    student text not null,
    record json not null,
    primary key (class, position)
);

-- The tables of a class and its rules, by the names that they have as files.
create table document (
    class integer not null references class on delete cascade,
    name text not null,
    content text not null,
    primary key (class, name)
);
