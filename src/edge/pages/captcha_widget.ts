import type { Settings } from '../../host/settings.js';
import type { CaptchaWidget } from './page.js';

/** The widget for the email page; null where no CAPTCHA is configured, or none for browsers. */
export function captchaWidget({
  captcha_site_key,
  captcha_script_url,
  captcha_widget_class,
}: Pick<Settings, 'captcha_site_key' | 'captcha_script_url' | 'captcha_widget_class'>): CaptchaWidget | null {
  if (captcha_site_key === null || captcha_script_url === null) return null;
  return { script_url: captcha_script_url, css_class: captcha_widget_class, site_key: captcha_site_key };
}
