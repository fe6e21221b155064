/**
 * A week of a bicycle workshop as it was said, for trying things out and for measuring how well it is found again. Written
 * for this; nobody in it is anybody.
 *
 * A conversation begins with `#`, its day (0 is the first of the week, 7 today) and time (today: how long ago), and where
 * it was. Its title (`=`), its tags (`+`), a star (`*`), that it is shared (`&`) and by which device it was recorded (`@`)
 * follow where a person gave it any. Then come its turns, each behind the first letter of who said it; M is whose account
 * it is. Lines that begin with `?` are questions whose answer is the turn before them.
 *
 * The first day is written as a Monday. Names of single days of the week move with the day on which it is recorded, so no
 * text has a date or a month by which something is to be done.
 */
export const SPEAKERS: Readonly<Record<string, string>> = { M: 'Mira', J: 'Jonas', P: 'Petra', S: 'Samir', C: 'Carla' };
export const WEEK = `
# 0 08:40 Workshop
+ workshop
M: Good morning, did the delivery from the freight company arrive?
J: Two boxes came on Saturday. The third one with the brake cables is still missing.
? which box of the delivery is missing
M: I will call the freight company before lunch and ask where the cables are.
? who was going to phone the carrier about the cables
J: The tracking number is on the yellow note beside the till.
? where is the tracking number written down
M: Thanks. How many repairs are waiting?
J: Eleven, and four of them are flat tyres.
? how many repairs were waiting on Monday
M: Let us do the cargo bike of the bakery first, they need it on Wednesday.
? when does the bakery need its cargo bike
J: The rear wheel is bent, I would have to true it or put in a new rim.
? what was broken on the cargo bike
M: A new rim costs about sixty euros, please ask them before you order it.
? price of the new rim
J: I'll write to the bakery this morning.
M: And the red tandem can wait, its owners are on holiday until the twentieth.
? until when are the owners of the tandem away
J: Good, it takes up half of the stand anyway.
P: Hello you two, I brought croissants.
M: Wonderful. Petra, could you water the plants in the window, they look terrible.
? what was Petra asked to do with the plants
P: I gave them water on Friday, I think it is the sun that burns them.
? why do the plants look bad
J: Move them behind the counter then.
# 0 13:15 Telephone
= Call to the freight company
M: Hello, this is the bicycle workshop, I am calling about a parcel with brake cables.
C: One moment please. It was held at the depot because the label was damaged.
? why was the parcel held back at the depot
M: When can you deliver it?
C: Tomorrow between ten and twelve, if somebody can sign for it.
? when will the parcel be delivered
M: Somebody will be here. Do you need anything else from us?
C: Only the order number, please.
M: It is four seven one nine, two two.
? what was our order number
C: Thank you. You will get a message when the driver is on the way.
# 0 17:30 Kitchen
= The landlord’s letter
+ home, rent
P: The landlord wrote again about the rent.
M: What does he want now?
P: From January on it goes up by eighty euros a month.
? how much does the rent rise
M: That is more than we agreed, the contract says at most five percent.
? what does the lease say about raising the rent
P: I will look for the contract and scan the page.
? who promised to scan the contract
M: Please do, and don't answer him before we have talked to the tenants' association.
? whom do we want to ask before answering the landlord
P: Their office is open on Thursday from four to six.
? opening hours of the tenants association
M: I'll go there on Thursday then.
P: The heating in the back room still makes that knocking noise too.
? what is wrong with the heating
M: Write that down, it belongs into the same letter.
# 1 09:05 Workshop
= Inspection for the school
+ workshop, school
J: The bakery says yes to the new rim, as long as it is done by noon tomorrow.
? did the bakery agree to a new rim
M: Perfect. Do we have thirty six spokes of that length?
J: We have exactly forty left in the drawer.
? how many spokes are left
M: Order another hundred, please. The ones from the Dutch supplier were better.
? which supplier had the better spokes
J: They have gone up to nineteen cents apiece.
? what does a single spoke cost now
M: Still cheaper than a wheel that comes back.
S: Morning. I locked my keys in again, sorry for being late.
? why was Samir late on Tuesday
M: There is a spare key in the safe, remember to bring it back.
? where is the spare key kept
S: I'll put it back this evening.
M: Samir, the school called. They want a quote for the inspection of twenty four children's bicycles.
? how many bicycles does the school want inspected
S: On site or here?
M: On site, in their yard, on the third of the month.
? where will the school inspection take place
S: Then we need the small compressor and both repair stands.
? what equipment do we need for the inspection in the schoolyard
M: I will send the school the quote by Thursday.
? by when did I promise the quote for the school
S: Take twelve euros a bike, last year it was ten and that did not cover the brake pads.
? how much did we charge the school per bike last year
J: And the helmets, they always ask about helmets.
# 1 12:10 Workshop
= Damaged brake cables
J: The parcel is here, I signed for it.
M: Are the cables all right?
J: One bag is open, three of them are kinked.
? what was wrong with the brake cables that came
M: Take pictures, I will complain to the supplier.
? who takes care of the complaint
J: Done, they are in the shared folder called claims.
? in which folder are the photographs of the damage
M: Good. Did you eat already?
J: There is soup left in the fridge, the lentil one.
? what kind of soup is in the fridge
M: With the cumin? Lovely.
# 1 16:45 Telephone
= Gravel bike for Carla
+ customers
*
M: Hello Carla, it's Mira. How is your knee?
C: Better, the doctor says I may ride again in two weeks.
? when may Carla cycle again
M: That's good news. Are you still interested in the gravel bike?
C: Yes, but the frame must be fifty four centimetres.
? what frame size does Carla need
M: We get one in green at the end of the month.
? colour of the gravel bike that is coming
C: Green is fine. What would it cost with mudguards?
M: About fourteen hundred, I will make you a written offer.
? what did I promise Carla
C: And could you put a bell on it, a loud one?
? what extra does Carla want on her bike
M: The brass one you can hear across the river.
C: Perfect. My sister's birthday is in two weeks, I would love to have it by then.
? when is the birthday of Carla's sister
M: I'll do what I can, but I can't promise it.
# 2 08:50 Workshop
= Cargo bike is done, battery cabinet
+ workshop
M: The cargo bike looks great, when did you finish it?
J: At half past eight, with the new rim and fresh grips.
? when was the cargo bike finished
M: The baker will love it. How do they pay?
J: By bank transfer, they want the invoice by e-mail.
? how does the bakery want to get the bill
M: I will write the invoice today.
J: The hub dynamo of the blue trekking bike is dead.
? which bike has a broken dynamo
M: Is it under warranty?
J: It was bought in March, so yes, until next March.
? until when does the guarantee of the trekking bike last
M: Then send it in, and lend the customer the grey city bike.
? what do we lend to the customer with the blue bike
J: The grey one has a slow puncture.
? problem of the grey city bike
M: Then fix that first, please.
S: I read about the new regulation for electric bikes, batteries must be stored in a fireproof cabinet.
? how must batteries be stored according to the new rule
M: From when on?
S: From the first of April next year.
? when does the battery regulation begin
M: What does such a cabinet cost?
S: Between nine hundred and two thousand euros.
? what does a fireproof cupboard cost
M: Ask the insurance whether they pay a part of it.
? whom do we ask to pay part of the cabinet
S: I'll ask them tomorrow.
# 2 11:30 Bakery
= Cargo bike back at the bakery
+ customers
M: Here it is, as good as new.
C: Oh, it rolls like butter. What was it?
M: The rear rim was bent, probably from the kerb at the loading bay.
? what probably bent the wheel of the bakery
C: I told the boys to go around the kerb.
M: Tell them also to pump the tyres every two weeks, to three bar.
? what tyre pressure does the cargo bike need
C: Three bar, every two weeks. I'll hang it on the door.
M: And the chain wants oil when it rains a lot.
? what should be done with the chain in wet weather
C: Take some bread with you. We have the one with walnuts today.
? which bread was there that day
M: Thank you. Shall we do a check in spring?
C: Yes, in the week after Easter, before the terrace opens.
? when does the bakery want the spring check
# 2 18:00 Kitchen
+ home, rent
P: I found the contract, it was in the folder with the taxes.
? where was the lease found
M: And?
P: Paragraph nine, the rent may rise by at most five percent over three years.
? which paragraph limits the rent
M: So eighty euros is far too much.
P: Five percent would be thirty one.
? how many euros would five percent be
M: Then he will get a friendly letter.
P: Can you take the cat to the vet on Friday? I have the dentist.
? who takes the cat to the veterinarian and why
M: At what time?
P: The appointment is at a quarter past three, for the vaccination.
? time of the cat's appointment
M: Fine, I'll take her.
P: She hates the blue basket, use the grey one.
? which basket does the cat accept
M: And she hates the vet even more.
# 3 09:20 Workshop
+ workshop
M: Samir, what did the insurance say?
S: They pay thirty percent of the cabinet if we send three offers.
? what share of the cabinet does the insurance cover
M: Then get three offers, please.
S: I have one already, from the locksmith in Mill Street.
? who made the first offer for the cabinet
M: Good. I sent the quote to the school this morning.
S: How much was it in the end?
M: Two hundred and eighty eight, without spare parts.
? total of the quote for the school
S: They'll take it. Last year the headmistress baked a cake for us.
? who baked a cake for us last year
J: The woman with the folding bike is here again, the third time because of the same squeak.
? which customer came three times because of a noise
M: What did we try?
J: New brake pads, cleaned the rims, and tightened the headset.
? what was tried against the squeak of the folding bike
M: Look at the seat post, on these bikes it is often the clamp.
? where does the squeaking of folding bikes often come from
J: I never would have looked there.
M: Don't charge her anything this time.
? did the woman with the folding bike have to pay
J: Agreed.
# 3 16:10 Tenants' association
= Advice on the rent
+ rent
*
M: My landlord wants eighty euros more a month from January on.
C: May I see the contract? Paragraph nine, yes, that is quite clear.
M: Do I have to answer within a certain time?
C: Within two months, but do it in writing and by registered mail.
? how should the answer to the landlord be sent
M: What about the heating? It knocks all night.
C: You may reduce the rent by five percent until it is repaired, but announce it first.
? by how much may the rent be reduced because of the heating
M: Do you have a sample letter?
C: Number seventeen on our page, fill in the dates and keep a copy.
? which sample letter should we use
M: What does the membership cost?
C: Seventy five euros a year, and legal advice is included.
? membership fee of the association
M: I will think about it and come back next week.
# 3 18:20 Kitchen
= What we answer the landlord
+ home, rent
M: The association says five percent at most and in writing.
P: I thought so. Shall I write the letter?
M: Yes please, with sample number seventeen.
P: I'll do it on the weekend.
? when does Petra want to write the letter
M: And we can reduce the rent because of the heating.
P: Let's not do that yet, I would rather keep the peace.
? why do we not reduce the rent yet
M: All right, we decided to wait with that until February.
? what did we decide about reducing the rent
P: By the way, my parents are coming for the weekend after next.
? who visits us the weekend after next
M: Then we need the second mattress back from Jonas.
? who has our mattress
P: I'll ask him tomorrow.
# 4 08:35 Workshop
+ workshop
J: I looked at the seat post clamp, it was the clamp.
M: I told you. Twenty years of squeaking bikes.
J: I put some grease on it and now it is silent.
? what silenced the folding bike
M: Great. What is left for today?
J: The two racing bikes of the club and the wheelchair of Mister Lindqvist.
? whose wheelchair is in the workshop
M: The wheelchair first, he can't do without it.
J: It needs a new bearing on the left, size six thousand and two.
? which bearing size does the wheelchair need
M: We should have that in the second drawer from above.
? where are the bearings
J: Found it. Samir, can you help me lift it?
S: Coming. The second offer for the cabinet came, seventeen hundred with delivery.
? what was the second offer for the cabinet
M: And the third?
S: I will call them again on Monday.
? what will Samir do on Monday
M: Please also order gloves, size nine, the thin ones.
? what size of gloves do we order
S: Two boxes?
M: Three, Jonas eats them.
J: They tear when I look at them.
# 4 11:00 Workshop
= Internship for Emil
S: There is a young man who would like to do an internship here.
M: For how long?
S: Three weeks in May, from his school.
? how long does the intern want to stay
M: Can he do anything yet?
S: He rebuilt an old moped with his grandfather, he says.
? what has the intern repaired before
M: That's better than most certificates. What is his name?
S: Emil, he left his number, it is on the board.
? name of the boy who wants the internship
M: I will call him next week.
? what did I promise about Emil
S: He should start with patching tubes.
M: Everybody starts with patching tubes.
# 4 15:30 Vet
= The cat at the vet
+ home
M: Good afternoon, we are here for the vaccination.
C: Hello. How old is she now?
M: Seven in August.
? how old does the cat become
C: She is a little heavy, five point eight kilos.
? how much does the cat weigh
M: She steals from the dog next door.
C: Give her thirty grams less of the dry food a day.
? what did the veterinarian say about feeding
M: I'll tell Petra, she is the soft one.
C: Her teeth are good, only the upper left one has some tartar.
? which tooth of the cat has tartar
M: Does that have to be done?
C: Not yet, we look at it again in half a year.
? when should the teeth be checked again
M: And the vaccination lasts for a year?
C: For three years, this one.
? for how long does the vaccination last
# 4 19:00 Club house
= Race around the lake
*
J: The club wants to know whether we can look after the bikes at the race in June.
M: Which race?
J: The one around the lake, a hundred and twenty kilometres, on the fourteenth.
? date and length of the race around the lake
M: Who pays?
J: They offer four hundred and the food, and a banner at the finish.
? what does the club offer us for the race
M: Four hundred for two people and a whole Sunday is not much.
J: Last year's mechanics got six hundred.
? what did the mechanics get last year
M: Then we ask for six hundred as well.
? how much money do we ask of the club
J: I'll tell the chairman on Tuesday at training.
? when does Jonas talk to the chairman
M: And we need a place with shade, last year I had a sunburn for a week.
? what happened to Mira at the race last year
J: And electricity for the coffee machine.
# 5 10:30 Market
= Shopping for Saturday evening
P: What do we need for tonight?
M: Potatoes, leeks, cream and something green.
? what did we have to buy for Saturday evening
P: How many are we?
M: Seven, if your brother comes.
? how many guests come on Saturday
P: He comes, but he doesn't eat cheese.
? what does Petra's brother not eat
M: Then I make the gratin without cheese and a second one with.
P: The mushrooms look good, three euros for the basket.
? price of the mushrooms
M: Take two baskets. And flowers for the table, please, the orange ones.
? which flowers do we want for the table
P: The orange ones are dahlias.
M: Then dahlias. Remember to buy candles, we have none left.
? what should we not forget to buy
# 6 20:15 Kitchen
= Letter to the landlord
+ home, rent
P: I wrote the letter to the landlord, do you want to read it?
M: Read it to me.
P: We agree to a rise of thirty one euros from January on, in accordance with paragraph nine.
? which rise of the rent did we agree to in the letter
M: Good. And the heating?
P: One sentence: please have it repaired by the end of the month.
? by when should the heating be repaired
M: Friendly and clear. I will take it to the post office tomorrow.
? what did I want to bring to the post
P: Registered, don't forget.
M: Registered. I'm not sure whether they open at eight or at nine.
P: At half past eight, on Mondays.
? when does the post office open
# 6 09:10 Workshop
= Opening hours in winter
+ workshop
&
M: We have to talk about the opening hours in winter.
J: Last winter nobody came after five.
? why should we close earlier in winter
M: What if we close an hour earlier in winter and open on Saturdays instead?
? which opening hours did I suggest for winter
S: Saturdays are bad for me, I have the children every second weekend.
? why can Samir not work on Saturdays
J: I can do the Saturdays, I would like the Mondays off instead.
? which day does Jonas want off
M: Agreed, then we do it like that from next week on.
? from when on do the winter hours count
S: Somebody has to change it on the web page and on the door.
M: I will change the web page, Jonas paints the sign.
? who paints the sign for the door
# 5 14:20 Telephone
= Call about the card reader
M: Hello, I am calling about the broken card reader.
C: Which model is it?
M: The small white one, it says error thirty one.
? which error does the card reader show
C: Then the battery is swollen, please do not charge it any more.
? what is the matter with the card reader
M: That sounds dangerous.
C: We send you a new one, it should arrive within three working days.
? how long does the replacement of the card terminal take
M: And the old one?
C: Put it into the box that we send and bring it to any parcel shop.
? what do we do with the old card reader
M: Until then we take cash only.
# 7 00:00 Workshop
= The stolen pump
+ workshop
@ table
J: Somebody stole the pump from the bench outside.
? what was stolen from outside
M: Again? That's the second one this year.
J: We could chain it to the wall.
M: Take the one with the steel hose and bolt it on.
? how do we keep the pump from being stolen
J: I need an eight millimetre masonry drill for that.
? which drill is needed for the wall
M: Samir has one at home.
S: I will bring it on Monday.
? who brings the drill
M: And put up a note that the pump is free for everybody, maybe that helps.
# 1 19:40 Kitchen
+ home
P: Have you thought about the summer?
M: I would love to go to the mountains, by train.
? where would I like to go in summer
P: To the hut where we were with Anna?
M: Exactly. They take bookings from the first of the month.
? from when on can we book the hut
P: Then we should write on the first, last time it was full after a day.
? why must we book the hut early
M: Two weeks at the beginning of the school holidays?
? when do we want to go on holiday
P: The second week would be better, I have exams to mark in the first.
? until when does Petra have exams to correct
M: The second and third week, then.
P: And who waters the tomatoes?
M: Jonas, he owes us something for the mattress.
? who takes care of the tomatoes in summer
# 5 08:30 Workshop
= Numbers of the last quarter
+ workshop
*
M: I did the numbers for the last quarter.
J: And are we rich?
M: We sold less, but the repairs went up by twelve percent.
? how much did repairs grow in the last quarter
S: That's because of the electric bikes.
? why did the repairs increase
M: Every third repair is an electric one by now.
? what part of the repairs are electric bikes
J: Then somebody should do the training for the new motors.
M: There is a course in Hanover in February, two days, four hundred and fifty euros.
? where and when is the course for motors
S: I would like to do it.
? who wants to take the course
M: Good, I will book it and the train as well.
? what did I promise to book
S: Thanks, I'll stay with my cousin, so no hotel.
? where does Samir sleep in Hanover
M: And the bank wants to see the numbers by Tuesday.
? when does the bank want the figures
J: Do they ever want to see anything nice?
# 2 15:00 Bank
= Loan for the lift
C: Thank you for coming. Your figures are solid.
M: We would like to renew the loan for the lift and the workbench.
? what is the loan for
C: I can offer three point nine percent for five years.
? which interest rate did the bank offer
M: The other bank said three point six.
? what did the competing bank offer
C: Then I have to ask my colleague, I will write to you by Friday.
? by when does the bank answer
M: Could we pay something back early without a fee?
C: Up to ten percent a year is free.
? how much may be repaid early
M: That would be fine. Which papers do you still need?
C: The tax return of last year and the contract for the rooms.
? which documents does the bank still want
# 5 16:00 Allotment
P: The fence at the back fell over in the storm.
? what did the storm damage in the garden
M: Two posts are rotten, we need new ones out of oak.
? what wood do we want for the fence posts
P: The sawmill in the valley sells them for eighteen euros each.
? where can we buy the posts for the fence
M: I will borrow the trailer from Jonas and fetch them.
? whose trailer do we borrow
P: And the quinces are ripe, somebody has to make jelly.
? which fruit is ripe
M: Take the recipe of my grandmother, with the star anise.
? what spice belongs in the jelly
P: The neighbour offered us his bees for the spring.
? what did the neighbour offer us
M: Bees? I'm allergic to wasps, but bees should be fine.
? what is Mira allergic to
P: He says three hives, at the far end beside the compost.
? where would the hives stand
M: Let's ask the committee first, there is a meeting on the eleventh.
? when does the committee of the allotments meet
# 3 20:00 Choir
C: We sing the requiem at the end of next month, in the church by the river.
? where do we sing in November
M: Which voices are missing?
C: Two tenors, as always, and somebody for the second alto.
? which singers does the choir lack
M: I could ask Samir, he has a beautiful tenor and is too shy.
? who could sing tenor
C: Rehearsals are on Sundays now, no longer on Thursdays.
? when are the rehearsals of the choir
M: That suits me better, Thursdays I am always late.
C: And please learn the second movement by heart, the conductor insists.
? what are we supposed to learn by heart
M: In Latin?
C: In Latin. The tickets are twelve euros, eight for students.
? how much are concert tickets for students
M: I promised six tickets to the neighbours.
? how many tickets did I promise to the neighbours
C: The black folders are new, they cost nothing if you bring them back.
# 0 11:00 Hospital
= My wrist at the hospital
M: Hello, I'm here because of my wrist.
C: Since when does it hurt?
M: Since I fell from the ladder two weeks ago.
? how did Mira hurt her wrist
C: It is not broken, but the ligament is strained.
? diagnosis of the wrist
M: What can I do?
C: Wear the splint at night for three weeks and no heavy lifting.
? for how long should I wear the splint
M: I have a workshop, I lift bicycles all day.
C: Then let the others do it. And cool it with ice in the evening.
? how should the wrist be cooled
M: Do I have to come again?
C: In two weeks at nine, room two hundred and four.
? room of the next appointment in the hospital
M: And the painkillers?
C: Ibuprofen, at most three a day, and not on an empty stomach.
? how many ibuprofen may I take
# 4 09:40 Workshop
= Noise of the compressor
M: The compressor makes a terrible noise.
J: The belt is worn, I ordered one from the manufacturer in Denmark.
? from where does the new belt of the compressor come
M: How long does that take?
J: Ten days, if customs doesn't look at it twice.
? how long until the belt arrives
S: We could use the one of the carpenter next door meanwhile.
? whose compressor could we use meanwhile
M: Good idea, I'll bring him a bottle of the plum brandy.
? what does the carpenter get in return
J: Someone left an umbrella and a child's glove in the waiting corner.
? what was left behind in the waiting corner
M: Put them into the box under the stairs.
? where are lost things kept
S: The Wi-Fi password changed, it is on the router now, the long one.
? where does the new password of the wireless network stand
M: Please don't tell it to the customers, they get the guest network.
? which network are customers allowed to use
# 7 02:10 Telephone
= Call from the town hall
@ pocket
C: This is the town hall, it's about the parking places for cargo bikes in front of your shop.
M: Oh, did they approve it?
C: Four places, instead of one for cars, from the spring on.
? how many parking places for cargo bikes did the town approve
M: That is fantastic. Do we have to pay for it?
C: Only for the signs, two hundred and ten euros.
? what do the parking signs cost us
M: And who clears the snow there?
C: You do, I'm afraid, it counts as your pavement.
? who has to clear the snow
M: Can we put up a repair stand as well?
C: Send us a drawing with measurements, then the committee decides in March.
? what does the town need for the repair stand
M: I will draw something and send it this month.
? who draws the plan for the stand
C: The contact is Mister Okafor, extension three four two.
? who is our contact in the town hall
M: I'll write that down.
# 6 11:45 Workshop
S: I tested the new chain oil for four weeks, in the rain and all.
M: And what do you think?
S: It stays on longer than the old one but it attracts more dirt.
? disadvantage of the new chain lubricant
J: For commuters it's fine, for the forest I would not take it.
? for whom is the new oil not suitable
M: What does the litre cost?
S: Twenty three euros, but from five litres on they give fifteen percent off.
? discount on the oil for five litres
M: Take five, and write on the cans what it is for.
J: The workshop vacuum cleaner died, by the way.
? which machine has died
M: Completely?
J: It smoked and it smelt like burnt hair.
? what did the vacuum smell like
M: Then we buy one with a proper filter, because of the dust from the brake discs.
? why do we want a vacuum with a better filter
# 6 18:30 Cellar
+ home
P: The washing machine leaks again, the floor is wet up to the shelf.
? what is leaking in the cellar
M: Is it the hose or the pump?
P: The hose, it has a crack near the tap.
? where is the crack in the hose
M: I'll buy a new one at the hardware store tomorrow, one and a half metres.
? how long must the new hose be
P: The box with the photographs stood on the floor, the bottom is soaked.
? which box got wet
M: Oh no, not the pictures of my grandmother!
P: They are fine, only the envelopes are wet. I hung them on the line.
? are the photographs damaged
M: We should scan them all before something happens.
P: The library lends out a scanner, free of charge, for a week.
? who lends us a scanner
M: Reserve it for the Christmas holidays, please.
? for when should the scanner be reserved
P: And the light bulb at the stairs is broken, the thin kind of thread.
? what thread does the broken bulb have
M: E fourteen, we have three in the kitchen drawer.
? where are spare bulbs
P: The meter man comes on Thursday, between eight and ten.
? when are the meters read
M: I can be here until nine.
P: Then I'll leave the key with Missis Brandt upstairs.
? with whom do we leave the key
M: She talks for an hour, be careful.
P: And the bicycle cellar has to be cleared by the end of next week.
? by when must the bicycle cellar be empty
M: There are nine bicycles in there and nobody knows whose they are.
? how many bicycles nobody owns are in the cellar
`;
