import type { CaptchaWidget } from './page.js';

type CaptchaSettings = {
  captcha_site_key: string | null;
  captcha_script_url: string | null;
  captcha_widget_class: string;
};

/** The widget for the email page; null where no CAPTCHA is configured, or none for browsers. */
export function captchaWidget({
  captcha_site_key,
  captcha_script_url,
  captcha_widget_class,
}: CaptchaSettings): CaptchaWidget | null {
  if (captcha_site_key === null || captcha_script_url === null) return null;
  return { script_url: captcha_script_url, css_class: captcha_widget_class, site_key: captcha_site_key };
}
