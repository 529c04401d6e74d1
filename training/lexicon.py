"""Word lists behind the synthetic pairs: what may replace what, and what it does to a claim."""

from __future__ import annotations

#: Either may stand for the other: the claim stays the same.
SYNONYMS = """
use/utilise; uses/makes use of; used/employed; begin/start; begins/starts; began/started; buy/purchase
bought/purchased; require/need; requires/needs; required/needed; permitted/allowed; mandatory/compulsory
approximately/about; prior to/before; at least/no fewer than; at most/no more than
show/display; shows/displays; shown/displayed; create/make; creates/makes; created/made; get/obtain
gets/obtains; help/assist; helps/assists; located/situated; big/large; quick/fast; quickly/fast
several/a number of; many/a lot of; often/frequently; rarely/seldom; usually/normally; must/has to
because/since; however/nevertheless; contains/includes; contain/include; consists of/is made up of
choose/select; chooses/selects; chosen/selected; changes/modifies; changed/modified
delete/remove; deletes/removes; deleted/removed; specify/indicate; specifies/indicates; error/mistake
ensure/make sure; ensures/makes sure; attempt/try; attempts/tries; receive/get; receives/gets
received/got; ends/finishes; ended/finished; end/finish; built/constructed; wrote/authored
responsible for/in charge of; entire/whole; method/technique; kind/type; kinds/types; enough/sufficient
another/a different; same/identical; whole/complete; provides/offers; provide/offer; provided/offered
famous/well known; film/movie; author/writer; died/passed away; children/kids; company/firm
cannot/is unable to; can/is able to; may/is allowed to; if/in case; when/whenever; moreover/in addition
beneath/under; near/close to; opened/inaugurated; established/founded; won/was awarded; replaced/succeeded
"""

#: Neither is true where the other is: the claim turns into its contrary.
ANTONYMS = """
allowed/forbidden; permitted/prohibited; allows/prevents; allow/prevent; required/optional
mandatory/voluntary; enabled/disabled; enables/disables; enable/disable; before/after; above/below
increase/decrease; increases/decreases; increased/decreased; increasing/decreasing; minimum/maximum
always/never; internal/external; first/last; more/fewer; more than/less than; at least/at most
higher/lower; larger/smaller; longer/shorter; earlier/later; older/younger; faster/slower; better/worse
north/south; northern/southern; east/west; eastern/western; left/right; up/down; true/false; open/closed
opened/closed; start/end; starts/ends; started/ended; begin/end; began/ended; success/failure
succeeds/fails; succeed/fail; with/without; inside/outside; public/private; valid/invalid
possible/impossible; available/unavailable; supported/unsupported; same/different; similar/unlike
full/empty; new/old; newer/older; recommended/discouraged; recommended/not recommended; safe/unsafe
secure/insecure; accept/reject; accepts/rejects; accepted/rejected; include/exclude; includes/excludes
included/excluded; add/remove; adds/removes; added/removed; load/unload; positive/negative; odd/even
manually/automatically; manual/automatic; temporary/permanent; temporarily/permanently; local/remote
ascending/descending; input/output; read/write; reads/writes; reader/writer; client/server
source/destination; upper/lower; best/worst; most/least; largest/smallest; highest/lowest
oldest/youngest; longest/shortest; won/lost; wins/loses; born/died; alive/dead; married/unmarried
male/female; man/woman; father/mother; son/daughter; brother/sister; husband/wife; king/queen
actor/actress; winter/summer; spring/autumn; morning/evening; day/night; hot/cold; wet/dry; early/late
black/white; red/blue; green/yellow; heavy/light; strong/weak; rich/poor; cheap/expensive; free/paid
private/public; sold/bought; import/export; imports/exports; join/leave; joined/left; agree/disagree
agreed/disagreed; rising/falling; rose/fell; growing/shrinking; grew/shrank; loved/hated; popular/unpopular
common/rare; commonly/rarely; often/seldom; everyone/no one; someone/nobody; everything/nothing; all/no
every/no; both/neither; majority/minority; directly/indirectly; explicitly/implicitly; single/multiple
single-threaded/multi-threaded; synchronous/asynchronous; static/dynamic; encrypted/unencrypted
compressed/uncompressed; signed/unsigned; visible/hidden; mutable/immutable; known/unknown; paid/unpaid
approved/rejected; confirmed/denied; ahead/behind; domestic/foreign; urban/rural; professional/amateur
"""

#: One of a kind: another of the same line contradicts.
KINDS = """
January February March April May June July August September October November December
Monday Tuesday Wednesday Thursday Friday Saturday Sunday
two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty
second third fourth fifth sixth seventh eighth ninth tenth
seconds minutes hours days weeks months years decades
second minute hour day week month year decade
bytes kilobytes megabytes gigabytes
KB MB GB TB
red blue green yellow black white orange purple brown
American British French German Italian Spanish Canadian Australian Japanese Chinese Indian Russian Dutch Swedish
actor singer politician painter engineer footballer novelist journalist composer scientist lawyer director producer
film album song novel book play magazine newspaper series
comedy drama thriller documentary musical western horror romance
football basketball baseball cricket hockey tennis rugby golf
England France Germany Italy Spain Canada Australia Japan China India Russia Sweden Ireland Scotland Mexico Brazil
London Paris Berlin Rome Madrid Toronto Sydney Tokyo Chicago Boston Philadelphia Vienna Dublin
California Texas Florida Ohio Virginia Georgia Michigan Illinois Pennsylvania Washington
string integer list tuple boolean dictionary float
table column row index view
guitar piano drums violin bass saxophone
"""

#: Weak on the left, strong on the right: the strong form is not stated by the weak one.
STRENGTHEN = """
may/must; can/must; might/will; some/all; sometimes/always; often/always; usually/always; most/all
many/all; should/must; could/will; several/all; generally/always; typically/always; rarely/never
recommended/required; likely/certain; about/exactly; up to/exactly; at least/exactly; partly/entirely
can be/is always; mainly/only; mostly/exclusively; primarily/solely; one of the/the; among the/the
"""

#: Details that a passage hardly ever states, by where they fit.
DETAILS = """
for security reasons; by default; on most platforms; since version 3.2; in 2014; for the first time
because of a court ruling; at no extra cost; without prior notice; within 30 days; on weekends as well
according to the manufacturer; in more than forty countries; with the consent of the manager
for backward compatibility; despite heavy criticism; after a long dispute; in cooperation with a university
to save energy; on request of the customer; in the evening; at its headquarters; with a budget of 2 million euros
under the new regulation; until the end of the year; as part of a merger; twice a year; for technical reasons
in front of a large audience; together with his brother; because the earlier approach was too slow
in all supported languages; for users in Europe only; even when the network is down; three times in a row
as the successor of an older system; following a public vote; with the help of volunteers
"""

LEAD_INS = (
    "However, ",
    "For example, ",
    "In addition, ",
    "Additionally, ",
    "Moreover, ",
    "Note that ",
    "Furthermore, ",
    "Also, ",
    "Therefore, ",
    "Thus, ",
    "Finally, ",
    "In particular, ",
    "Instead, ",
    "Please note that ",
    "As a result, ",
    "In this case, ",
)

#: Participle -> third person, for turning a passive round.
VERBS = """
written/wrote; directed/directed; produced/produced; created/creates; returned/returns; used/uses
provided/provides; called/calls; defined/defines; managed/manages; handled/handles; supported/supports
implemented/implements; generated/generates; controlled/controls; owned/owns; published/published
founded/founded; designed/designed; developed/developed; built/built; led/led; won/won; raised/raises
performed/performs; executed/executes; stored/stores; sent/sends; received/receives; replaced/replaced
required/requires; determined/determines; ignored/ignores; maintained/maintains; recorded/recorded
invented/invented; discovered/discovered; composed/composed; painted/painted; inspired/inspired
"""


def pairs(text: str) -> list[tuple[str, str]]:
    """``a/b; c/d`` as pairs, both ways round where the reader wants them."""
    entries = [e.strip() for line in text.strip().splitlines() for e in line.split(";")]
    return [(left, right) for left, _, right in (e.partition("/") for e in entries if e)]
