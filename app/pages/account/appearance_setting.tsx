import {
  chooseLanguage,
  LANGUAGE_CODES,
  LANGUAGES,
  type LanguageChoice,
  language_choice,
} from '../../language/languages.js';
import { say, sayChoices } from '../../language/say.js';
import { SelectField } from '../../parts/field.js';
import { Section } from '../../parts/page.js';
import { chooseScheme, SCHEMES, scheme } from '../../parts/scheme.js';
import { useToastAction } from '../../parts/toast_action.js';

const SCHEME_NAMES = [
  ['system', 'As this device'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

/** The language, and whether pages are light or dark. */
export function AppearanceSetting() {
  const language = useToastAction(say('The language could not be loaded. Check your connection.'), chooseLanguage);
  return (
    <Section title={say('Appearance')}>
      <div class="panel">
        <SelectField
          label={say('Language')}
          value={language_choice.value}
          onValue={(value) => void language.run(choiceOf(value))}
          options={languages()}
          hint={say('For this browser.')}
        />
        <SelectField
          label={say('Colors')}
          value={scheme.value}
          onValue={(value) => chooseScheme(SCHEMES.find((one) => one === value) ?? 'system')}
          options={sayChoices(SCHEME_NAMES)}
          hint={say('For this browser.')}
        />
      </div>
    </Section>
  );
}

function choiceOf(value: string): LanguageChoice {
  return LANGUAGE_CODES.find((code) => code === value) ?? 'browser';
}

/** Each language by its own name. */
function languages(): (readonly [LanguageChoice, string])[] {
  const own = LANGUAGE_CODES.map((code) => [code, LANGUAGES[code].name] as const);
  return [['browser', say('As the browser')], ...own];
}
