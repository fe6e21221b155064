import { GERMAN_SCOPES } from './german_scopes.js';
import type { TextTable } from './text_table.js';

/** The texts of the server's pages and mails in German, by those in English: `text_table.ts` says in what form. */
export const GERMAN = {
  ...GERMAN_SCOPES,

  // Sign-in
  'Sign in': 'Anmelden',
  'Error: {title}': 'Fehler: {title}',
  'to continue to {app}': 'um mit {app} fortzufahren',
  'restoring your account': 'der Wiederherstellung Ihres Kontos',
  'your invitations': 'Ihren Einladungen',
  'Email address': 'E-Mail-Adresse',
  'We’ll email you a six-digit code. There is no password.':
    'Wir senden Ihnen einen sechsstelligen Code per E-Mail. Es gibt kein Passwort.',
  'You get a six-digit code. There is no password.': 'Sie erhalten einen sechsstelligen Code. Es gibt kein Passwort.',
  'The CAPTCHA needs JavaScript. Turn it on and load this page again.':
    'Das CAPTCHA braucht JavaScript. Schalten Sie es ein, und laden Sie diese Seite neu.',
  'Send me a code': 'Code senden',
  'Enter an email address, such as name@example.com.': 'Geben Sie eine E-Mail-Adresse ein, etwa name@example.com.',
  'Please show first that you are a person.': 'Bitte zeigen Sie zuerst, dass Sie ein Mensch sind.',
  'Enter your code': 'Code eingeben',
  'You continue to {app} with a six-digit code for {email}.':
    'Mit einem sechsstelligen Code für {email} fahren Sie mit {app} fort.',
  'Enter the six-digit code for {email} here to continue to {app}.':
    'Geben Sie hier den sechsstelligen Code für {email} ein, um mit {app} fortzufahren.',
  'We’ve sent a six-digit code to {email}. Enter it here to continue to {app}.':
    'Wir haben einen sechsstelligen Code an {email} gesendet. Geben Sie ihn hier ein, um mit {app} fortzufahren.',
  'Six-digit code': 'Sechsstelliger Code',
  'six digits': 'sechs Ziffern',
  'The email can take a minute. If it doesn’t come, look in your spam folder.':
    'Die E-Mail kann eine Minute brauchen. Kommt sie nicht, sehen Sie im Spam-Ordner nach.',
  'This server sends no mail: the code stands in the terminal and in the inbox, {path} of the operators’ pages, which asks for the operator token.':
    'Dieser Server sendet keine E-Mails: Der Code steht im Terminal und im Posteingang, {path} der Betreiberseiten, der nach dem Betreiber-Token fragt.',
  'This server sends no mail: the code stands in the terminal and in {inbox}, which asks for the operator token.':
    'Dieser Server sendet keine E-Mails: Der Code steht im Terminal und im {inbox}, der nach dem Betreiber-Token fragt.',
  'the inbox': 'Posteingang',
  'Send a new code': 'Neuen Code senden',
  'Use another email': 'Andere E-Mail-Adresse verwenden',
  'A new code is on its way.': 'Ein neuer Code ist unterwegs.',
  'No code was sent this time: this address was sent many of late. Wait a minute, then ask for a new one.':
    'Diesmal wurde kein Code gesendet: An diese Adresse gingen zuletzt viele. Warten Sie eine Minute, und fordern Sie dann einen neuen an.',
  'Enter the six digits of the code.': 'Geben Sie die sechs Ziffern des Codes ein.',
  'That code is wrong or has expired. You can try {n} times more.': {
    one: 'Der Code ist falsch oder abgelaufen. Sie haben noch einen Versuch.',
    other: 'Der Code ist falsch oder abgelaufen. Sie haben noch {n} Versuche.',
  },
  'Choose an account': 'Konto wählen',
  'Continue as {email}': 'Weiter als {email}',
  'Too many wrong codes': 'Zu viele falsche Codes',
  'This sign-in has ended. Go back to the app and start again.':
    'Diese Anmeldung ist beendet. Gehen Sie zurück zur App, und beginnen Sie neu.',
  'This sign-in has ended.': 'Diese Anmeldung ist beendet.',
  'This sign-in is finished': 'Diese Anmeldung ist abgeschlossen',
  'Go back to {app}. To sign in once more, start again there.':
    'Gehen Sie zurück zu {app}. Um sich noch einmal anzumelden, beginnen Sie dort neu.',
  'Back to {app}': 'Zurück zu {app}',
  'There is no account for this email': 'Zu dieser E-Mail-Adresse gibt es kein Konto',
  'Nobody has an account under {email}, so there is nothing to restore. Perhaps you used another address.':
    'Unter {email} hat niemand ein Konto, es gibt also nichts wiederherzustellen. Vielleicht haben Sie eine andere Adresse verwendet.',
  'You’re signed in as {email}': 'Sie sind angemeldet als {email}',
  'Sign out': 'Abmelden',
  'You’re signed out': 'Sie sind abgemeldet',
  'You can close this page now.': 'Sie können diese Seite jetzt schließen.',
  'Sign in again': 'Erneut anmelden',
  'Please wait a minute': 'Bitte warten Sie eine Minute',
  'There were too many attempts from your network. Wait {time}, then go back and try again.':
    'Aus Ihrem Netz kamen zu viele Versuche. Warten Sie {time}, gehen Sie dann zurück, und versuchen Sie es noch einmal.',
  '{n} seconds': { one: '{n} Sekunde', other: '{n} Sekunden' },

  // Consent
  'Let an app use your account?': 'Eine App Ihr Konto nutzen lassen?',
  'Let {app} use your account?': '{app} Ihr Konto nutzen lassen?',
  'This app is not made by Spool, and we have not checked it. It chose its name itself.':
    'Diese App ist nicht von Spool, und wir haben sie nicht geprüft. Ihren Namen hat sie selbst gewählt.',
  'Afterwards you’ll be sent to': 'Danach werden Sie weitergeleitet zu',
  'Approve only if that is the site you came from.': 'Stimmen Sie nur zu, wenn Sie von dieser Seite gekommen sind.',
  'Afterwards you’ll be sent to a program on this device':
    'Danach werden Sie zu einem Programm auf diesem Gerät weitergeleitet',
  'Approve only if you have just started this yourself, in a program that you trust.':
    'Stimmen Sie nur zu, wenn Sie dies gerade selbst begonnen haben, in einem Programm, dem Sie vertrauen.',
  'Afterwards you’ll be sent to an app registered for the scheme':
    'Danach werden Sie zu einer App weitergeleitet, die für dieses Schema eingetragen ist',
  'Any app on this device may have registered for it. Approve only if you have just started this yourself, in an app that you trust.':
    'Jede App auf diesem Gerät kann sich dafür eingetragen haben. Stimmen Sie nur zu, wenn Sie dies gerade selbst begonnen haben, in einer App, der Sie vertrauen.',
  'It will see': 'Die App sieht',
  'It will be able to': 'Die App darf',
  'It gets this {reach}, which serves AI assistants. The rest of the API stays closed to it. You can disconnect it at any time.':
    'Die App erhält das {reach}, der KI-Assistenten dient. Der Rest der API bleibt ihr verschlossen. Sie können sie jederzeit trennen.',
  'through Spool’s MCP server only': 'nur über den MCP-Server von Spool',
  'It gets this {reach}, also while you are away. You can disconnect it at any time.':
    'Die App erhält das {reach}, auch während Sie nicht da sind. Sie können sie jederzeit trennen.',
  'through the whole Spool API': 'über die ganze API von Spool',
  Approve: 'Zustimmen',
  Deny: 'Ablehnen',

  // Errors
  Error: 'Fehler',
  Request: 'Anfrage',
  'Open the page again': 'Seite noch einmal öffnen',
  'This sign-in can’t continue': 'Diese Anmeldung kann nicht fortgesetzt werden',
  'Page not found': 'Seite nicht gefunden',
  'This page can’t be opened by its address': 'Diese Seite lässt sich nicht über ihre Adresse öffnen',
  'Something went wrong': 'Etwas ist schiefgegangen',
  'Spool is unavailable for a moment': 'Spool ist gerade nicht verfügbar',
  'That took too long': 'Das hat zu lange gedauert',
  'This app is not known here': 'Diese App ist hier nicht bekannt',
  'This app can’t sign in here': 'Mit dieser App können Sie sich hier nicht anmelden',
  'There is no safe way back to this app': 'Es gibt keinen sicheren Weg zurück zu dieser App',
  'This app was denied access': 'Dieser App wurde der Zugriff verweigert',
  'This can’t continue': 'Hier geht es nicht weiter',
  'Go back to the app and start again.': 'Gehen Sie zurück zur App, und beginnen Sie neu.',
  'Try again in a moment.': 'Versuchen Sie es gleich noch einmal.',
  'Only the makers of the app can fix this.': 'Das können nur die Hersteller der App beheben.',
  'If that doesn’t help, only the makers of the app can fix it.':
    'Hilft das nicht, können es nur die Hersteller der App beheben.',
  'This sign-in was begun in another browser, or cookies are switched off.':
    'Diese Anmeldung wurde in einem anderen Browser begonnen, oder Cookies sind ausgeschaltet.',
  'This sign-in is over.': 'Diese Anmeldung ist vorbei.',
  'The app that began this sign-in may not sign people in any more.':
    'Die App, die diese Anmeldung begonnen hat, darf niemanden mehr anmelden.',
  'This form does not belong to this sign-in.': 'Dieses Formular gehört nicht zu dieser Anmeldung.',
  'The form says nothing that can be done.': 'Das Formular nennt nichts, was getan werden kann.',
  'There is nothing at this address.': 'Unter dieser Adresse gibt es nichts.',
  'Sign-in is not available at the moment.': 'Die Anmeldung ist gerade nicht möglich.',

  // The deleted account
  'Your account is deleted': 'Ihr Konto ist gelöscht',
  'Your data is being erased': 'Ihre Daten werden gelöscht',
  'Your data has been erased': 'Ihre Daten sind gelöscht',
  'There is nothing to restore': 'Es gibt nichts wiederherzustellen',
  'Your account is back': 'Ihr Konto ist wieder da',
  'Your new account is ready': 'Ihr neues Konto ist bereit',
  'Deleted on': 'Gelöscht am',
  'Will be erased on': 'Endgültig gelöscht am',
  'Time left': 'Verbleibende Zeit',
  'about {n} days': { one: 'etwa ein Tag', other: 'etwa {n} Tage' },
  'about {n} hours': { one: 'etwa eine Stunde', other: 'etwa {n} Stunden' },
  'less than an hour': 'weniger als eine Stunde',
  'If you restore it, you get back': 'Wenn Sie es wiederherstellen, erhalten Sie zurück',
  'Everything in your private workspace, and in others that only you belong to':
    'Alles in Ihrem privaten Arbeitsbereich und in anderen, denen nur Sie angehören',
  'Your recorders': 'Ihre Aufnahmegeräte',
  'Webhook endpoints, which are told what happens in your account':
    'Webhook-Endpunkte, die erfahren, was in Ihrem Konto geschieht',
  'This is not restored': 'Das wird nicht wiederhergestellt',
  'Connected apps and personal access tokens: connect them again':
    'Verbundene Apps und persönliche Zugriffstoken: Verbinden Sie sie neu',
  'Workspaces shared with others: ask to be invited again':
    'Gemeinsame Arbeitsbereiche: Lassen Sie sich noch einmal einladen',
  'Invitations to workspaces that only you belonged to': 'Einladungen in Arbeitsbereiche, denen nur Sie angehörten',
  Restore: 'Wiederherstellen',
  'If you do nothing, your data is erased on the day above.':
    'Wenn Sie nichts tun, werden Ihre Daten am genannten Tag endgültig gelöscht.',
  'The time to restore this account is over, and its data is being erased. When that is done, you can start again here with an empty account. Come back in a while.':
    'Die Frist zur Wiederherstellung dieses Kontos ist vorbei, und seine Daten werden gelöscht. Danach können Sie hier mit einem leeren Konto neu beginnen. Kommen Sie etwas später wieder.',
  'Check again': 'Noch einmal nachsehen',
  'The account was deleted more than seven days ago. What was in it is gone and can’t come back. You can start again with an empty account under the same email.':
    'Das Konto wurde vor mehr als sieben Tagen gelöscht. Sein Inhalt ist weg und kommt nicht wieder. Sie können unter derselben E-Mail-Adresse mit einem leeren Konto neu beginnen.',
  'Start again': 'Neu beginnen',
  'This account is not deleted. You can use it as usual.':
    'Dieses Konto ist nicht gelöscht. Sie können es wie gewohnt nutzen.',
  'Open Spool': 'Spool öffnen',
  'Was it another account that was deleted? Sign out, then sign in with its email.':
    'Wurde ein anderes Konto gelöscht? Melden Sie sich ab, und melden Sie sich mit dessen E-Mail-Adresse an.',
  'Welcome back. Everything in your private workspace is where it was.':
    'Willkommen zurück. In Ihrem privaten Arbeitsbereich ist alles, wo es war.',
  'Welcome back. It is empty, under the same email.': 'Willkommen zurück. Es ist leer, unter derselben E-Mail-Adresse.',
  'You may have to sign in again in your apps, and to connect apps again.':
    'Vielleicht müssen Sie sich in Ihren Apps neu anmelden und Apps neu verbinden.',
  'If it was not you who deleted it, sign out everywhere in one of your apps.':
    'Falls nicht Sie es gelöscht haben, melden Sie sich in einer Ihrer Apps überall ab.',
  'See your invitations': 'Ihre Einladungen ansehen',

  // Invitations
  'Your invitations': 'Ihre Einladungen',
  'You now belong to {workspace}. You’ll find it in your apps.':
    'Sie gehören jetzt zu {workspace}. Sie finden den Arbeitsbereich in Ihren Apps.',
  'Declined. You haven’t joined that workspace.': 'Abgelehnt. Sie sind dem Arbeitsbereich nicht beigetreten.',
  'That invitation no longer exists: it was answered or withdrawn.':
    'Diese Einladung gibt es nicht mehr: Sie wurde beantwortet oder zurückgezogen.',
  'There are no invitations for you at the moment. When somebody invites this address to a workspace, you’ll find that here.':
    'Derzeit gibt es keine Einladungen für Sie. Lädt jemand diese Adresse in einen Arbeitsbereich ein, finden Sie das hier.',
  'There are no more invitations here.': 'Hier gibt es keine weiteren Einladungen.',
  'Were you invited under another address? Sign out, then sign in with that one.':
    'Wurden Sie unter einer anderen Adresse eingeladen? Melden Sie sich ab, und melden Sie sich mit jener an.',
  'Shared workspaces are not switched on for your account, so you can’t accept yet. The operator of this server can switch them on. Until then your invitations stay here, and you can decline them.':
    'Für Ihr Konto ist das Teilen ausgeschaltet, Sie können also noch nicht annehmen. Der Betreiber dieses Servers kann es einschalten. Bis dahin bleiben Ihre Einladungen hier, und Sie können sie ablehnen.',
  'As an admin, invited by {who}': 'Als Administrator, eingeladen von {who}',
  'As a member, invited by {who}': 'Als Mitglied, eingeladen von {who}',
  'somebody whose account is gone': 'jemandem, dessen Konto es nicht mehr gibt',
  Accept: 'Annehmen',
  Decline: 'Ablehnen',
  'More invitations': 'Weitere Einladungen',
  'Newest invitations': 'Neueste Einladungen',
  'Older invitations': 'Ältere Einladungen',
  'Invitations can’t be answered while your account is deleted. They wait here until you restore it.':
    'Solange Ihr Konto gelöscht ist, lassen sich Einladungen nicht beantworten. Sie warten hier, bis Sie es wiederherstellen.',
  'Go to the restore page': 'Zur Wiederherstellung',

  // Links, calendars and addresses that end mails
  Recording: 'Aufnahme',
  Summary: 'Zusammenfassung',
  Text: 'Text',
  'This recording has no text.': 'Zu dieser Aufnahme gibt es keinen Text.',
  'Speaker {number}': 'Sprecher {number}',
  'Parts of the text': 'Teile des Textes',
  Earlier: 'Früher',
  Later: 'Später',
  'Part {part} of {parts}': 'Teil {part} von {parts}',
  'Somebody shared this recording with you by a link. The link ends on {time}.':
    'Jemand hat diese Aufnahme per Link mit Ihnen geteilt. Der Link endet am {time}.',
  'This link has ended': 'Dieser Link gilt nicht mehr',
  'It was good for a time, or whoever made it has ended it. Ask them for another one.':
    'Er galt nur für eine Zeit, oder wer ihn erstellt hat, hat ihn beendet. Bitten Sie um einen neuen.',
  'This calendar has ended': 'Diesen Kalender gibt es nicht mehr',
  'Whoever it belongs to has ended its address, or made another one.':
    'Wem er gehört, hat die Adresse ungültig gemacht oder eine neue erstellt.',
  'Mails of what is due': 'E-Mails über Fälliges',
  'No more mails of what is due?': 'Keine E-Mails über Fälliges mehr?',
  'You get one on days on which something is due or overdue. The settings of your account switch them on again.':
    'Sie erhalten eine an Tagen, an denen etwas fällig oder überfällig ist. In den Einstellungen Ihres Kontos schalten Sie sie wieder ein.',
  'Stop these mails': 'Diese E-Mails abbestellen',
  'You get no more mails of what is due': 'Sie erhalten keine E-Mails über Fälliges mehr',
  'The settings of your account switch them on again.':
    'In den Einstellungen Ihres Kontos schalten Sie sie wieder ein.',
  'This address is not known': 'Diese Adresse ist nicht bekannt',
  'It may have been cut. The settings of your account switch these mails off as well.':
    'Vielleicht fehlt ein Teil von ihr. Die Einstellungen Ihres Kontos schalten diese E-Mails ebenfalls aus.',

  // Mails
  'Your Spool sign-in code': 'Ihr Anmeldecode für Spool',
  'Your code to sign in to Spool:': 'Ihr Code zur Anmeldung bei Spool:',
  'It works once, for {time}. Nobody from Spool will ever ask you for it.':
    'Er gilt einmal, {time} lang. Niemand von Spool wird Sie je danach fragen.',
  'If you did not try to sign in, ignore this mail: without the code nobody can.':
    'Falls Sie sich nicht anmelden wollten, beachten Sie diese E-Mail nicht: Ohne den Code kann es niemand.',
  'Your Spool account was deleted': 'Ihr Konto bei Spool wurde gelöscht',
  'The Spool account {email} was deleted.': 'Das Konto {email} bei Spool wurde gelöscht.',
  'Its data will be erased on {time}. Until then you can have it back:':
    'Seine Daten werden am {time} endgültig gelöscht. Bis dahin können Sie es wiederherstellen:',
  'If it was not you who deleted it, restore it there, then sign out everywhere.':
    'Falls nicht Sie es gelöscht haben, stellen Sie es dort wieder her, und melden Sie sich dann überall ab.',
  'You are invited to a workspace on Spool': 'Einladung in einen Arbeitsbereich bei Spool',
  '{who} invites you to a shared workspace on Spool, as admin.':
    '{who} lädt Sie als Administrator in einen gemeinsamen Arbeitsbereich bei Spool ein.',
  '{who} invites you to a shared workspace on Spool, as member.':
    '{who} lädt Sie als Mitglied in einen gemeinsamen Arbeitsbereich bei Spool ein.',
  '{who} invites you to the workspace {name} on Spool, as admin.':
    '{who} lädt Sie als Administrator in den Arbeitsbereich {name} bei Spool ein.',
  '{who} invites you to the workspace {name} on Spool, as member.':
    '{who} lädt Sie als Mitglied in den Arbeitsbereich {name} bei Spool ein.',
  'See the invitation, and accept or decline it, here:':
    'Hier sehen Sie die Einladung und können sie annehmen oder ablehnen:',
  'It is for {email}: sign in with that address. If you do not know who this is from, ignore this mail.':
    'Sie gilt für {email}: Melden Sie sich mit dieser Adresse an. Wenn Sie nicht wissen, von wem sie kommt, beachten Sie diese E-Mail nicht.',
  '{n} tasks are due': { one: 'Eine Aufgabe ist fällig', other: '{n} Aufgaben sind fällig' },
  'This is due today or overdue:': 'Das ist heute fällig oder überfällig:',
  'since {day}': 'seit {day}',
  today: 'heute',
  'today, {time}': 'heute, {time}',
  'and {n} more': 'und {n} weitere',
  'All of it:': 'Alles:',
  'If you want no more of these mails:': 'Wenn Sie diese E-Mails nicht mehr möchten:',
  'A webhook endpoint was disabled': 'Ein Webhook-Endpunkt wurde abgeschaltet',
  'Spool no longer delivers events to your endpoint at {host}.':
    'Spool stellt Ihrem Endpunkt bei {host} keine Ereignisse mehr zu.',
  '{failures} deliveries in a row have failed, so it was disabled, and what was still outstanding was cancelled.':
    '{failures} Zustellungen hintereinander sind fehlgeschlagen. Daher wurde er abgeschaltet, und was noch ausstand, wurde abgebrochen.',
  'Endpoint: {endpoint_id}': 'Endpunkt: {endpoint_id}',
  'Its recent deliveries say what went wrong. When it works again, set it active: events from then on are delivered.':
    'Seine letzten Zustellungen zeigen, was schiefging. Wenn er wieder geht, schalten Sie ihn ein: Ereignisse ab dann werden zugestellt.',
  'What it has missed can be read from the account events of the last {time}.':
    'Was ihm entgangen ist, steht in den Ereignissen des Kontos der letzten {time}.',
} as const satisfies TextTable;
