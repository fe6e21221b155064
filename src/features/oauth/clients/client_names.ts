import { z } from 'zod';
import { LIMITS } from '../../../domain/limits.js';

const RULE = `must be 1 to ${LIMITS.client_name_chars_max} characters after trimming, without control or direction characters`;

/** Characters that would end a line, or turn the reading direction of the page around. */
const UNSHOWABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** A client's name, as a consent page shows it. */
export const clientName = z
  .string(RULE)
  .transform((text) => text.trim())
  .refine(
    (text) =>
      text !== '' &&
      [...text].length <= LIMITS.client_name_chars_max &&
      text.isWellFormed() &&
      !UNSHOWABLE.test(text) &&
      /[^\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(text),
    RULE,
  );
