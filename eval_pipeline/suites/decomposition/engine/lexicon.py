"""General English for the embedded engine: closed word classes, common verbs, and what verbs state.

Nothing here belongs to a topic: a word is listed because of its role in any English sentence.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS = _listed(
    """
    a all an another any billion both certain dozen each eight either enough every few fewer five four half
    her his hundred its least less many million more most much my neither nine no one other others our own
    same seven several six some such ten the their these this those thousand three two various what whatever
    your
    """
)
PREPOSITIONS = _listed(
    """
    about above according across after against along amid among around as at before behind below beneath
    beside besides between beyond by despite down during except for from in inside into like near of off on
    onto out outside over past per regardless since than through throughout to toward towards under
    underneath unlike until up upon versus via with within without
    """
)
CONJUNCTIONS = _listed("and but nor or plus")
RELATIVES = _listed("that where which who whom whose")
SUBORDINATORS = _listed(
    """
    although because how if lest once so though unless when whenever whereas wherever whether while why
    """
)
PRONOUNS = _listed(
    """
    another anyone anything everyone everything he here herself him himself i it itself nobody none nothing
    one ourselves she someone something them themselves there they us we you
    """
)
SUBJECT_PRONOUNS = _listed("it they")
BE = _listed("am are be became become becomes been being is remain remains was were")
AUXILIARIES = _listed(
    """
    can cannot could did do does done had has have having let may might must not ought shall should will
    would
    """
)
NEGATIONS = _listed("cannot hardly neither never no not rarely without")
ADVERBS = _listed(
    """
    accordingly afterwards again ago almost alone already also always apart away consequently else elsewhere
    even ever far farther finally first further furthermore hence hereby however indeed instead just last
    later least less likewise longer maybe meanwhile more moreover most much never nevertheless next
    nonetheless now often once only otherwise perhaps quite rather second sometimes somewhat soon still then
    thereafter thereby therefore third thus today together too twice very well whereby yet
    """
)
ADVERBIALS = frozenset(
    f"{preposition} {noun}"
    for preposition, nouns in {
        "in": "addition common contrast effect fact general part particular practice principle short turn",
        "for": "example instance",
        "at": "least first last most once",
        "on": "average balance",
        "of": "course",
        "as": "well such",
        "well": "as",
        "no": "longer",
    }.items()
    for noun in nouns.split()
)
"""Pairs of words that together modify a clause; their noun is no concept."""
RENAMINGS = frozenset(("or", "also called", "also known as", "known as", "often called", "sometimes called"))
"""What stands between two names of one thing: "X, also called Y,"."""
NOUNS_IN_LY = _listed(
    """
    ally anomaly apply assembly belly bully butterfly comply costly daily deadly early elderly family fly
    folly friendly homily imply italy jelly july likely lily lively monthly multiply
    rally rely reply supply unlikely weekly
    """
)
"""Words in -ly that are no adverbs."""
GENERIC_ADJECTIVES = _listed(
    """
    able additional adequate adult alike appropriate available bad beneficial best best-known better big
    bright broad broader careful central certain changing cheap cheaper chief classic clear close closed
    closer cold colder common comparable complete complex considerable constant cool cooler costly countless
    crucial current dangerous dark declining decreasing deep deeper denser different difficult direct
    distant distinct dominant double drier dry due earlier earliest early easier easy effective efficient
    enormous entire equal essential excessive existing expensive extra extraordinary extreme falling false
    familiar famous far fast faster fastest fewer fifth final first flawed following former fourth free
    frequent fresh full further future general global good gradual great greater greatest growing hard
    harder harmful healthy heavier heavy hidden high higher highest hot hotter huge identical important
    increasing indirect ineffective initial insufficient key known large larger largest last late later
    latest latter leading least light lighter likely limited little local long longer longest looser low
    lower lowest main major mere mild minor moderate modern multiple narrow nearby necessary new newer
    newest next normal notable numerous obvious old older oldest open ordinary original overall partial
    particular past poor poorer popular possible preceding present previous primary principal prominent
    prone proper pure quick rapid rare ready real recent regular related relevant remaining remarkable
    remote responsible rich richer right rising safe second secondary sensitive separate serious severe
    shallow sheer short shorter shortest significant similar simple simpler simplest single slow slower
    small smaller smallest so-called special specific steady strange strong stronger strongest subject
    subsequent substantial successful sudden sufficient suitable sure third tighter tiny total true typical
    unable unclear unequal unknown unlikely useful useless usual valid valuable vast visible vital warm
    warmer weak weaker weakest wealthy well-known wet wetter whole wide widely-used wider widespread
    worldwide worse worst wrong young
    """
)
"""Adjectives, comparatives and ordinals that say how much or which, and begin no concept."""
GENERIC_NOUNS = _listed(
    """
    ability absence account act action activity addition advance advantage adviser advocate age agreement
    aim amount answer appeal approach area argument arrangement aspect association attempt attention author
    authority average balance barrier base basis beginning behavior behaviour benefit body boundary
    breakdown burden call capacity care case category cause cent center centre century chain chance change
    character characteristic charge check child children choice circumstance citizen claim class code
    collection combination commitment community company comparison component concept concern conclusion
    condition conflict connection consequence consideration contact content context contrast contribution
    control copy country course creation criteria criterion critic criticism cycle damage danger data date
    day deal debate decade decision decline decrease definition degree delay demand department depth design
    detail development device difference difficulty direction disadvantage discussion disease distance
    distinction doubt driver duty east effect effort element emergence emphasis end energy engineer entry
    environment error estimate event evidence example exception exchange existence expansion expense
    experience expert explanation expression extent eye face fact factor failure family fault favour feature
    field figure finding firm flow focus food force form formation foundation framework frequency function
    fund future gain gap generation goal good government ground group growth guide half hand harm head heart
    heat help hierarchy history home hour human idea image impact implementation importance improvement
    incentive income increase individual industry influence information ingredient input instance
    institution instrument intention interest introduction issue item job judgement judgment justification
    kilometer kilometre kind knowledge lack land language law layer leader learner length lesson level life
    limit limitation line link list loss machine majority maker man manner mark market mass material matter
    meaning means measure mechanism medium meeting member memory men meter method metre mile mind minority
    minute mixture model moment money month movement name nation nature need network north notion number
    object objective obligation observation observer occasion official operation opinion opponent
    opportunity opposite option order organisation organization origin outcome output owner pace page pair
    paper parameter part participant partner party path pattern payment peak people percent percentage
    performance period person phase phenomena phenomenon picture piece place plan plant point policy pool
    population portion position possibility power practice presence pressure price principle problem
    procedure process product production profit program programme progress project promise property
    proponent proportion proposal protection provision public purpose quality quantity question range rate
    ratio reach reaction reader reading reality reason record reduction reference region relation
    relationship release reliance remainder removal replacement report representation representative
    reproduction request requirement research researcher resource respect response responsibility rest
    result return reward right rise risk role room root round route row rule run safety sale sample scale
    scheme scholar school science scientist scope score search season second section sector sense sentence
    sequence series service set setting shape share shift short side sight sign signal similarity site
    situation size skill society sort sound source south space speaker species speed spread stage standard
    start state statement status step stock stop story strategy strength stretch structure student study
    subject success sum supply support supporter surface survey symbol system table target task team
    technique technology temperature tendency term test text theme theory thing thought threat time title
    today tool top topic total town track trade trait transfer transition treatment trend trial trouble type
    understanding union unit unity use user value variable variant variation variety version view voice
    volume warning waste water way weakness weather week weight west whole will woman women word work worker
    world worth year zone
    """
)
"""Nouns that are no concept when they stand alone."""
NOUN_VERBS = _listed(
    """
    act address aid aim answer appeal approach attack balance ban benefit block bond border break buffer
    burden call cap care challenge change charge check claim coat combat command comment compound concern
    conduct conflict contact contract contrast control copy cost counter couple court cover credit cut cycle
    damage date deal debate decline delay demand deposit design detail display document drain dress drift
    drop dry dump ease effect end estimate exchange exercise experience experiment export face farm fear
    feature fight figure file film filter finance fish fit fix flood flow focus force form fuel fund gain
    grant ground group guard guide hand harm head heat help hold impact import index influence interest
    issue judge lack land lend level link list load loan lock loop mark market mass master match matter
    measure mine mix model move name network number object offer open orbit order pack page pair park part
    pass pattern pay peak permit place plan plant play point pool power practice present press price process
    profit program programme progress project promise protest pump purchase question quote race rain range
    rank rate reach record reform register release rent repair report request research reserve respect rest
    result return review reward ring rise risk root round rule run sample scale score screen seal search
    season seed sense sentence sequence shape share shelter shift ship shock side sign signal sink slope
    sort sound source space spend split spread stage stand star start state step stock stop store stress
    stretch structure study subject sum supply support surface survey swing switch tax test tie time top
    touch trace track trade train transfer transport travel trend trial trust try turn use value view visit
    vote wage walk warrant waste watch water wave wear weight witness wonder work yield
    """
)
"""Verbs whose base form is as often a noun."""
VERBS = _listed(
    """
    absorb accelerate accept accommodate accompany accomplish account accumulate achieve acknowledge acquire
    activate adapt add address adhere adjust administer admit adopt advance affect aggravate agree aim
    alleviate allow alter amplify analyse analyze announce answer anticipate appear apply appoint appreciate
    approach approve argue arise/arose/arisen arrange arrive ask assert assess assign assist associate
    assume assure attach attain attempt attend attract attribute avoid await back ban base bear/bore/borne
    begin/began/begun behave belong benefit bind/bound/bound block boost borrow break/broke/broken
    bring/brought/brought broaden build/built/built burn buy/bought/bought calculate call cancel capture
    carry catch/caught/caught cause cease challenge change characterize charge check choose/chose/chosen
    circulate cite claim clarify classify clear close collapse collect combine come/came/come commit
    communicate compare compel compensate compete complement complete complicate comply comprise compute
    conceive concentrate concern conclude condition conduct confer confine confirm conflict confront confuse
    connect consider consist constitute constrain construct consult consume contain contend continue
    contract contradict contrast contribute control convert convey convince cool cooperate coordinate
    correct correlate correspond cost/cost/cost count counter counteract cover create criticize cross curb
    cut/cut/cut damage deal/dealt/dealt debate decide declare decline decrease deduct deepen defend define
    degrade delay delegate delete deliver demand demonstrate deny depend deplete depress derive describe
    deserve design destroy detect deter deteriorate determine develop devote die differ diminish direct
    disagree disappear discourage discover discuss display disrupt dissolve distinguish distribute disturb
    diverge divide dominate double drain draw/drew/drawn drive/drove/driven drop dry dump earn ease
    eat/ate/eaten elect elevate eliminate embody embrace emerge emit emphasize employ empower enable enact
    encompass encounter encourage end endanger endorse endure enforce engage enhance enjoy enlarge enrich
    ensure entail enter entitle envisage equal equip erode escape establish estimate evade evaluate evolve
    exacerbate examine exceed exchange exclude execute exemplify exercise exert exhaust exhibit exist expand
    expect experience explain exploit explore expose express extend extract face facilitate fail
    fall/fell/fallen favor favour fear feature feed/fed/fed feel/felt/felt fight/fought/fought fill
    find/found/found finish fit fix flourish flow focus follow forbid/forbade/forbidden force
    foresee/foresaw/foreseen form formulate foster free freeze/froze/frozen fuel fulfil fulfill function
    fund gain gather generate get/got/gotten give/gave/given go/went/gone govern grant grow/grew/grown
    guarantee guide halt hamper handle hang/hung/hung happen harm heat help highlight hinder hinge
    hold/held/held host house hurt/hurt/hurt identify ignore illustrate imagine impair impede imply impose
    improve include incorporate increase incur indicate induce infer inflict influence inform inherit
    inhibit initiate inject insert insist inspire install integrate intend intensify interact interfere
    interpret intervene introduce invent invest investigate invite invoke involve isolate join judge justify
    keep/kept/kept kill know/knew/known label lack last launch lay/laid/laid lead/led/led leak learn
    leave/left/left lend/lent/lent lengthen lessen let/let/let lie/lay/lain lift limit link list live locate
    lock look lose/lost/lost lower magnify maintain make/made/made manage manifest manipulate mark match
    matter mean/meant/meant measure mediate meet/met/met merge minimize mirror mitigate mix mobilize model
    moderate modify monitor motivate move multiply name narrow necessitate need neglect negotiate neutralize
    note notice nourish obey oblige observe obstruct obtain occupy occur offer offset omit open operate
    oppose optimize order organise organize originate outlaw outweigh overcome/overcame/overcome overlap
    override oversee owe own participate pass pave pay/paid/paid penetrate perform permit persist persuade
    pertain place plan play point pollute pose possess practice practise precede predate predict prefer
    prepare prescribe present preserve press presuppose prevail prevent proceed process proclaim produce
    prohibit prolong promise promote prompt propagate propose prosper protect prove provide provoke publish
    pull punish purchase pursue push put/put/put qualify question raise range rank reach react read realise
    realize rearrange receive recognise recognize recommend reconcile record recover recycle reduce refer
    refine reflect reform refuse regard regenerate register regulate reinforce reject relate relax release
    relieve rely remain remember remind remove render renew reorganize repair repeat replace reply report
    represent reproduce require resemble reserve reside resist resolve respect respond rest restore restrain
    restrict result retain retreat return reveal reverse review reward ride/rode/ridden rise/rose/risen risk
    rule run/ran/run sacrifice satisfy save say/said/said scale scatter seal secure see/saw/seen
    seek/sought/sought seem select sell/sold/sold send/sent/sent separate serve set/set/set settle shape
    share shift shorten show/showed/shown shrink/shrank/shrunk signal simplify sink/sank/sunk sit/sat/sat
    slow smooth solve sort span spark speak/spoke/spoken specify speed spend/spent/spent spin/spun/spun
    split/split/split spread/spread/spread spur stabilise stabilize stand/stood/stood start state stay steer
    stem stick/stuck/stuck stimulate stop store strengthen stress stretch strike/struck/struck
    strive/strove/striven struggle study submit substitute succeed suffer suggest suit summarize supersede
    supervise supplement supply support suppress surpass surround survive suspend sustain switch tackle
    take/took/taken target teach/taught/taught tell/told/told tempt tend terminate test
    think/thought/thought threaten thrive throw/threw/thrown tie tighten tolerate touch trace track trade
    train transfer transform translate transmit transport trap travel treat trigger try turn undercut
    undergo/underwent/undergone underlie/underlay/underlain undermine underpin
    understand/understood/understood undertake/undertook/undertaken unite unleash update upset urge use
    utilise utilize validate value vanish vary verify view violate visit vote wait want warm warn watch
    weaken weigh widen win/won/won wish withdraw/withdrew/withdrawn withstand/withstood/withstood work
    worsen write/wrote/written yield
    """
)
"""Verbs by their base form; irregular ones with past tense and participle."""


class Role(Enum):
    """What a word does in its sentence, coarsely; the last five are parts that a reader of clauses sees."""

    NOUN = auto()
    ADJECTIVE = auto()
    ADVERB = auto()
    VERB = auto()
    BE = auto()
    AUXILIARY = auto()
    DETERMINER = auto()
    PREPOSITION = auto()
    CONJUNCTION = auto()
    RELATIVE = auto()
    SUBORDINATOR = auto()
    PRONOUN = auto()
    MENTION = auto()
    CUE = auto()
    EXAMPLES = auto()
    COMMA = auto()
    STOP = auto()


CLOSED_CLASSES: dict[str, Role] = {
    word: role
    for role, members in (
        (Role.ADJECTIVE, GENERIC_ADJECTIVES),
        (Role.ADVERB, ADVERBS),
        (Role.PRONOUN, PRONOUNS),
        (Role.SUBORDINATOR, SUBORDINATORS),
        (Role.DETERMINER, DETERMINERS),
        (Role.PREPOSITION, PREPOSITIONS),
        (Role.CONJUNCTION, CONJUNCTIONS),
        (Role.RELATIVE, RELATIVES),
        (Role.AUXILIARY, AUXILIARIES),
        (Role.BE, BE),
    )
    for word in members
}
"""Words that have the same role nearly everywhere; of two classes, the later one here counts."""


class Statement(NamedTuple):
    """What a verb or noun says about its subject and object."""

    predicate: str
    reversed: bool = False

    def converse(self) -> Statement:
        """The same with subject and object exchanged."""
        return Statement(self.predicate, not self.reversed)


VERB_STATEMENTS: dict[str, Statement] = {
    phrase: statement
    for statement, phrases in (
        (
            Statement("RELATES_TO"),
            _listed(
                """
                absorb accompany address admit affect allow apply+to associate+with balance ban belong+to
                bind carry combine compare compensate+for compete+with complement comprise concern
                conflict+with connect consist+of constitute contain contrast+with control convert
                convert+into convert+to coordinate correlate+with correspond+to counter cover define
                depart+from describe detect determine differ+from enable enforce ensure examine exclude
                explain extend favor favour feed+on govern guide help house include influence inform
                integrate interact+with involve join link live+in maintain make+up manage measure monitor
                move occur+in oppose originate+in oversee participate+in permit predict prohibit protect
                provide recognise recognize refer+to regulate relate+to replace represent resemble resist
                restrict rule+out run+on serve set shape store supervise supplement supply support surround
                take+up target test tie transform translate transport treat turn+into underlie underpin
                unite use verify work+with
                """
            ),
        ),
        (
            Statement("CAUSES"),
            _listed(
                """
                accelerate add+to aggravate alleviate amplify boost bring+about cause contribute+to cool
                create curb cut damage decrease degrade delay deplete depress destroy deter diminish
                discourage disrupt drive drive+down drive+up ease elevate eliminate emit encourage endanger
                enhance enlarge enrich erode exacerbate foster fuel generate give+to hamper harm heat hinder
                hold+back impair impede improve increase induce inhibit intensify kill lead+to lengthen
                lessen lift limit lower magnify make minimize mitigate moderate offset prevent produce
                prolong promote prompt provoke push+down push+up raise reduce release restore result+in
                shorten shrink slow slow+down speed speed+up spread spur stabilise stabilize stimulate
                strengthen suppress threaten tighten trigger undermine warm weaken widen worsen yield
                """
            ),
        ),
        (
            Statement("REQUIRES"),
            _listed(
                """
                build+on call+for demand depend+on depend+upon draw+on entail hinge+on live+on necessitate
                need presuppose rely+on rely+upon require rest+on rest+upon
                """
            ),
        ),
        (
            Statement("PRECEDES"),
            _listed(
                """
                come+before go+before happen+before occur+before pave+for precede predate
                """
            ),
        ),
        (
            Statement("PRECEDES", True),
            _listed(
                """
                come+after follow go+after happen+after occur+after succeed supersede
                """
            ),
        ),
        (
            Statement("CAUSES", True),
            _listed(
                """
                arise+from arise+through come+from emerge+from result+from stem+from
                """
            ),
        ),
    )
    for phrase in sorted(phrases)
}
"""What a verb states in the active voice, alone or with a preposition."""
PASSIVE_STATEMENTS: dict[str, Statement] = {
    phrase: statement
    for statement, phrases in (
        (Statement("REQUIRES", True), _listed("need+for require+for")),
        (Statement("REQUIRES"), _listed("base+on build+on")),
        (Statement("PRECEDES"), _listed("follow+by")),
    )
    for phrase in sorted(phrases)
}
"""What a passive states with a preposition; any other one with "by" reverses the active."""
NOUN_STATEMENTS: dict[str, Statement] = {
    phrase: statement
    for statement, phrases in (
        (
            Statement("IS_A"),
            _listed(
                """
                branch+of case+of category+of class+of example+of form+of instance+of kind+of one+of sort+of
                subset+of subtype+of type+of variety+of
                """
            ),
        ),
        (Statement("CAUSES"), _listed("cause+of driver+of origin+of source+of")),
        (Statement("CAUSES", True), _listed("consequence+of effect+of outcome+of product+of result+of")),
        (
            Statement("REQUIRES", True),
            _listed(
                """
                central+to crucial+for crucial+to essential+for essential+to indispensable+for
                indispensable+to necessary+for precondition+for precondition+of prerequisite+for
                prerequisite+of requirement+for requirement+of vital+for vital+to
                """
            ),
        ),
        (
            Statement("RELATES_TO"),
            _listed(
                """
                alternative+to component+of element+of feature+of key+to measure+of member+of part+of
                related+to response+to threat+to
                """
            ),
        ),
    )
    for phrase in sorted(phrases)
}
"""What a noun or adjective states with a preposition: "a kind of", "essential to"."""
