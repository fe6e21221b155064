/** BCP 47 tags of the languages of models that know several, by what their authors say. */

export const PARAKEET_V3_LANGUAGES: readonly string[] = [
  ...['bg', 'cs', 'da', 'de', 'el', 'en', 'es', 'et', 'fi', 'fr', 'hr', 'hu', 'it'],
  ...['lt', 'lv', 'mt', 'nl', 'pl', 'pt', 'ro', 'ru', 'sk', 'sl', 'sv', 'uk'],
];

export const SENSE_VOICE_LANGUAGES: readonly string[] = ['zh', 'yue', 'en', 'ja', 'ko'];
