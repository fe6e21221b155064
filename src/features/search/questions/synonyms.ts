import { stemmerOf } from '../../../domain/search/stemmers.js';

/**
 * Words of everyday, office, medical, family and school talk that people use for one another, in English. Source: written
 * for this project. One group a line; a word may stand in several. Where a line begins with a phrase and a colon, the
 * phrase in a question stands for the words behind it.
 */

const GROUPS = `
launch release rollout publish ship premiere
deadline due cutoff
meeting call appointment conversation session sync standup
appointment visit booking slot
schedule timetable plan calendar agenda programme program rota roster
postpone delay defer reschedule move shift push
cancel drop scrap abandon call-off
begin start commence open kick
end finish stop close conclude
finish complete done ready
stop quit halt pause discontinue
fix repair mend solve patch correct
broken damaged faulty defective
break crash fail malfunction outage breakdown
fault bug defect error problem issue
problem trouble issue difficulty
error mistake slip
outage downtime incident interruption
change alter modify adjust update edit
update refresh renew upgrade
replace swap substitute exchange
remove delete drop erase cut
add include insert attach append
send mail post forward ship
receive get obtain
message note text letter mail notice
email mail message
letter note mail
document paper file report
report summary writeup minutes
form sheet questionnaire
contract agreement deal
invoice bill receipt
price cost fee charge rate
cost price pay expense euros dollars pounds
pay spend cost paid
expensive pricey costly dear
cheap inexpensive affordable
money budget cash funds funding
budget money funds spending
salary wage pay income
discount reduction rebate
refund reimburse repay
buy purchase order get
sell sale sold
customer client buyer user subscriber
user customer people
supplier vendor provider
company firm business employer
boss manager supervisor lead chief
colleague coworker teammate
employee staff worker personnel
team group crew department
hire recruit employ
intern trainee apprentice student
leave vacation holiday off away absence
away off absent gone out
holiday vacation trip break
job work position task
task job todo assignment duty
duty shift call watch
responsible own charge owner accountable
owner landlord proprietor
cover replace substitute stand-in deputy
replace cover deputize
explain describe clarify
show present demonstrate display
presentation talk slides demo pitch
talk speech presentation lecture
tell inform notify let-know
inform tell notify
announce publish tell
ask request question
answer reply response respond
reply answer response
complain complaint grumble
complaint ticket complain
approve accept sign-off confirm allow
allow permit let may
forbid ban prohibit
confirm verify check
check test verify examine inspect look
test check trial try
trial test rehearsal pilot
rehearsal practice trial run-through
try attempt test
choose pick select decide take
decide choose agree settle
choice option alternative
option choice version variant
version variant edition
kind type sort
prefer like favour favor rather
agree accept
refuse decline reject
reject refuse decline turn-down
suggest propose recommend
proposal suggestion offer idea
idea suggestion thought
goal target aim
result outcome finding
increase raise grow rise
decrease reduce lower cut shrink
limit cap maximum
maximum most limit
minimum least
big large huge
huge big large enormous
small little tiny
fast quick rapid
slow sluggish
early soon
late delayed
old former previous
former previous earlier
new fresh latest recent
newest latest
important crucial key vital
urgent pressing
difficult hard tough tricky
easy simple
possible feasible realistic
wrong incorrect false mistaken
right correct
sure certain
save store keep
store save keep
keep hold retain stay
copy backup duplicate
memory storage ram
computer laptop machine pc
hardware machine equipment device computer
device machine gadget
machine device computer server
software program app application
app application program
website site page homepage
page site website
database data records
server machine host
network internet wifi connection
internet wifi connection online network
password login credentials
certificate licence license
expire run-out lapse end
phone telephone mobile cell call
call phone ring telephone
ring call phone
number phone contact
address location
contact reach call
upload import load
import upload
download export
search find lookup
find locate discover search
lose miss
lost missing
missing absent lost
notes minutes
record write note
write note jot
sign signature
print printout
picture photo image scan
photo picture image
draw sketch illustration
illustration drawing picture
video film clip recording
doctor physician gp medic
doctor surgeon specialist
nurse carer
dentist tooth
hospital clinic ward
clinic practice surgery
patient case
medicine medication tablet pill drug
tablet pill medicine medication
drug medicine medication
painkiller tablet pill ibuprofen paracetamol aspirin medicine
prescription medicine pills tablets
dose dosage amount
illness sickness disease condition
sick ill unwell
ill sick unwell
pain ache hurt sore
ache pain hurt
hurt pain ache sore
headache migraine head
head headache headaches
stomach belly tummy
fever temperature
cough cold
allergy allergic reaction
allergic allergy
dizzy faint light-headed
tired exhausted sleepy
sleep rest nap
injury wound
injure hurt break
swell swollen swelling
operation surgery procedure
physiotherapy physio therapy therapist
therapy treatment physio
treatment therapy cure
examination exam check scan test
scan x-ray mri ultrasound picture
lab laboratory blood
blood lab sample
pressure tension
measure weigh
weight pounds kilos
exercise workout training
walk stroll hike
lift carry raise
carry lift bring
diet food eating
eat meal food
meal dinner lunch supper breakfast
dinner supper meal evening
lunch meal midday noon
breakfast morning
food groceries meal provisions eat
groceries food shop shopping
cook chef kitchen
drink water beverage
recipe cook
restaurant cafe diner
shop store supermarket market
supermarket shop store
pharmacy chemist drugstore
garage mechanic workshop
car vehicle auto
van truck lorry
vehicle car van
bike bicycle cycle
bus coach
train rail railway
ferry boat ship
boat ship ferry
plane flight fly
flight fly plane
ticket fare
travel trip journey go
trip journey travel tour outing excursion
luggage bags baggage suitcase
pack packing bring
list packing
passport pass
drive lift ride
lift ride drive
puncture flat tire tyre
tire tyre wheel
hotel accommodation room
accommodation hotel hostel house cottage flat
cottage house cabin hut
house home place
apartment flat
room space
rent hire
hire rent
key lock
park parking
sea ocean beach coast
beach sea coast
mountain hill alps
island isle
weather forecast rain sun
holidays vacation
mother mum mom mama
father dad papa
parent mother father
parents families mother father
family parents relatives
families parents
grandmother grandma granny nan
grandfather grandpa granddad
child kid son daughter
children kids pupils
kids children
son boy
daughter girl
brother sibling
sister sibling
husband spouse partner
wife spouse partner
baby infant
friend mate pal buddy
neighbour neighbor
pet dog cat
dog puppy pet
birthday party
party celebration
celebrate party celebration
wedding marry married marriage
marry wedding married
gift present
present gift
prize award reward trophy
win prize
game match
play game
toy game
school class
class lesson course
lesson class period
course class training
teacher tutor instructor
teachers staff
pupil student child kid
pupils students children kids
student pupil
mentor tutor supervisor
subject maths music english history science art
homework assignment
exam test
grade mark score
experiment project science
fair exhibition show
exhibition fair show
trip excursion
headteacher principal head
caretaker janitor
classroom room
playground yard
library books reading
book read
reading book
read reading
canteen cafeteria
hall gym
sport gym
club group
team squad
volunteer help
help assist support aid
support help helpdesk chat
helper assistant
assistant aide
borrow lend loan
lend borrow loan
bring take carry
deliver bring delivery
delivery shipment parcel
parcel package
collect pick-up fetch
fetch collect
hand give pass
handover hand pass transfer
transfer move
give hand
wait stay
stay remain
remain stay left
rest remainder
remainder rest left
remember remind
forget forgot
remind reminder remember
worry concern
worried concerned afraid
angry annoyed cross furious
annoyed angry
happy glad pleased
sad unhappy
like enjoy love
hate dislike
dislike hate
want wish like
wish want
need require must
require need
must need have-to
reason because why
cause reason because
happen occur
visit come see
come arrive visit
arrive come arrival
leave go depart
go leave
return back
meet see
see look watch
look see
watch look
hear listen
noise sound loud
loud noisy
quiet silent
clean wash
dirty mess
wash clean laundry
garden yard
paint colour color
build construct make
make build create
create make
design layout draft
draft sketch version
wording text phrasing
text wording copy
translate translation language
language german english french spanish
law legal lawyer
legal lawyer law
lawyer attorney solicitor legal
tax vat
insurance insured cover
bank account
loan credit
debt owe
owe debt
rule policy regulation
policy rule
safe secure
security safety
danger risk
risk danger
fire alarm
alarm alert warning
alert alarm warning notification
warning alert
monitor watch observe
bell ring chime
tune melody song
music song
light lamp
door gate
window glass
chair seat
seat place chair licence
seats places
table desk
tables desks
computer screen
screen display monitor
camera webcam
weekend saturday sunday
weekday monday
fortnight two-weeks
evening night
night evening
morning early
noon midday lunch
autumn fall
fall autumn
today now
now currently today
current present
future later
later afterwards
often times frequently
times often
everybody everyone all
nobody none
somebody someone
people persons guests
guests visitors people
guest visitor
visitor guest
crowd people
amount number total
total sum amount
sum total
half fifty
percent share
share part
part piece
piece part bit
`;

const PHRASES = `
go live: launch release
goes live: launch release
going live: launch release
give up: stop quit
gave up: stop quit stopped
get rid of: remove fix drop
got rid of: remove fix drop
hand over: handover give
look after: care watch mind
take care of: handle care look
in charge: responsible owns
on duty: call shift
on leave: off vacation holiday away
on holiday: off vacation away
on vacation: off holiday away
break down: fail outage crash
broke down: fail outage crash
broken down: fail outage crash
call off: cancel
called off: cancel
put off: postpone delay
set up: install prepare arrange
find out: discover learn check
pick up: collect fetch
picked up: collect fetch
drop off: deliver bring
run out: expire end
runs out: expire end
turn off: switch disable
switch off: disable kill
turn down: reject refuse
turned down: reject refuse
fill in: replace cover
stand in: replace cover
sign up: register enrol enroll
signed up: register enrol enroll
get back: return
come along: join accompany
let know: tell inform
lets know: tell inform
write up: report document
write-up: report document
throw away: discard bin
throw out: discard remove bin
show up: come appear
get married: wedding marry
work out: solve exercise
carry out: do perform
deal with: handle
make up: invent
phone number: number contact
contact details: number phone address email
go wrong: fail error
went wrong: fail error broke
take part: join participate
take place: happen
takes place: happen
`;

const { stem } = stemmerOf('en');
const by_stem = new Map<string, Set<string>>();
for (const line of GROUPS.trim().split('\n')) {
  const words = line.split(' ').map((word) => word.replaceAll('-', ' '));
  for (const word of words) {
    const known = by_stem.get(stem(word)) ?? new Set();
    by_stem.set(stem(word), known);
    for (const other of words) if (other !== word && !other.includes(' ')) known.add(other);
  }
}

/** Phrases of two and three words, with what they stand for. */
export const PHRASE_SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  PHRASES.trim()
    .split('\n')
    .map((line) => {
      const [phrase = '', words = ''] = line.split(': ');
      return [phrase.replaceAll('-', ' '), words.split(' ')] as const;
    }),
);

/** Other words for an English word. */
export function synonymsOf(word: string): ReadonlySet<string> {
  return by_stem.get(stem(word)) ?? NONE;
}

const NONE: ReadonlySet<string> = new Set();
