/** Texts of scopes in German: `src/edge/pages/scope_texts.ts` has those in English. */
export const GERMAN_SCOPES = {
  'Your recordings, and which devices and apps they come from':
    'Ihre Aufnahmen und von welchen Geräten und Apps sie kommen',
  'Add recordings and places that recordings come from': 'Aufnahmen und Quellen von Aufnahmen hinzufügen',
  'Transcripts of what was said and by whom, your contacts, and what happened in your account':
    'Transkripte dessen, was wer gesagt hat, Ihre Kontakte und was in Ihrem Konto geschah',
  'Correct what was said and who said it; add and rename contacts':
    'Berichtigen, was wer gesagt hat; Kontakte hinzufügen und umbenennen',
  'Delete contacts and parts of transcripts': 'Kontakte und Teile von Transkripten löschen',
  'Suggestions made for you, and summaries of your sessions':
    'Vorschläge für Sie und Zusammenfassungen Ihrer Sitzungen',
  'Edit, group and rate the suggestions made for you': 'Vorschläge für Sie bearbeiten, gruppieren und bewerten',
  'Your account, and which apps are connected to it': 'Ihr Konto und welche Apps damit verbunden sind',
  'Rename your account, disconnect apps and sign you out everywhere':
    'Ihr Konto umbenennen, Apps trennen und Sie überall abmelden',
  'Delete your account, or restore it': 'Ihr Konto löschen oder wiederherstellen',
  'Your private files': 'Ihre privaten Dateien',
  'Add, change and delete your private files': 'Ihre privaten Dateien hinzufügen, ändern und löschen',
  'Which recording devices you have': 'Welche Aufnahmegeräte Sie haben',
  'Add and remove recording devices': 'Aufnahmegeräte hinzufügen und entfernen',
  'Start, join, extend and end recordings on your devices':
    'Aufnahmen auf Ihren Geräten beginnen, verlängern, beenden und daran teilnehmen',
  'Choose which addresses on the internet are told what happens in your account':
    'Wählen, welche Adressen im Internet erfahren, was in Ihrem Konto geschieht',
  'What you have told about yourself': 'Was Sie über sich angegeben haben',
  'Change what you have told about yourself': 'Ändern, was Sie über sich angegeben haben',
  'How your recordings are processed': 'Wie Ihre Aufnahmen verarbeitet werden',
  'Set up how your recordings are processed, also in ways that are still being tried out':
    'Einrichten, wie Ihre Aufnahmen verarbeitet werden, auch auf Arten, die noch erprobt werden',
  'Use and set up ways of processing that are still being tried out':
    'Arten der Verarbeitung verwenden und einrichten, die noch erprobt werden',
  'Diagnostics for developers, with your conversations and memories':
    'Diagnosen für Entwickler, mit Ihren Unterhaltungen und Gemerktem',
  'Run and change diagnostics for developers': 'Diagnosen für Entwickler ausführen und ändern',
  'Your workspaces, their members, and your invitations': 'Ihre Arbeitsbereiche, deren Mitglieder und Ihre Einladungen',
  'Answer your invitations, and leave shared workspaces':
    'Auf Ihre Einladungen antworten und gemeinsame Arbeitsbereiche verlassen',
  'Invite and remove members of your workspaces, and change their roles':
    'Mitglieder Ihrer Arbeitsbereiche einladen, entfernen und ihre Rollen ändern',
  'Create and rename workspaces': 'Arbeitsbereiche erstellen und umbenennen',
  'Delete workspaces that you own, or hand them over to others':
    'Arbeitsbereiche löschen, die Ihnen gehören, oder sie anderen übergeben',
  'What a search through transcripts and suggestions finds': 'Was eine Suche in Transkripten und Vorschlägen findet',
  'Have audio transcribed that is not kept': 'Audio als Text schreiben lassen, das nicht aufbewahrt wird',
} as const;
