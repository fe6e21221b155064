import t from 'tap';
import { captchaWidget } from '../../../src/edge/pages/captcha_widget.js';
import { readSettings } from '../../../src/host/settings.js';

const CHECKED = { CAPTCHA_URL: 'https://captcha.example/siteverify', CAPTCHA_SECRET: 'its secret' };
const SHOWN = { CAPTCHA_SITE_KEY: '1x00AA', CAPTCHA_SCRIPT_URL: 'https://captcha.example/api.js' };

t.test('the widget is there when its key and its script are set', async (t) => {
  const site = { ...CHECKED, ...SHOWN };
  t.same(captchaWidget(readSettings(site)), {
    script_url: 'https://captcha.example/api.js',
    css_class: 'cf-turnstile',
    site_key: '1x00AA',
  });
  t.match(captchaWidget(readSettings({ ...site, CAPTCHA_WIDGET_CLASS: 'h-captcha' })), { css_class: 'h-captcha' });
  t.equal(captchaWidget(readSettings(CHECKED)), null);
  t.equal(captchaWidget(readSettings({})), null);
});
