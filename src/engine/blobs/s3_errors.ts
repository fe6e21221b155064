import { S3ServiceException } from '@aws-sdk/client-s3';

/** The bucket can't be used as configured; the message says what to do. */
export class UnusableBucket extends Error {
  override name = 'UnusableBucket';
}

/** The HTTP status of an error from a store that speaks S3. */

export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

export function isAbsence(error: unknown): boolean {
  // Without its bucket nothing is absent: everything would look erased.
  return statusOf(error) === 404 && (error as S3ServiceException).name !== 'NoSuchBucket';
}

/** The reason of an error in words that contain nothing of the request. */
export function reasonOf(error: unknown): string {
  if (error instanceof S3ServiceException)
    return `${error.name}, status ${error.$metadata.httpStatusCode ?? 'unknown'}`;
  const { name, code, message } = error as NodeJS.ErrnoException;
  return code ?? (name === 'Error' ? message : name);
}

const ADVICE: Record<string, string> = {
  NoSuchBucket: 'Make the bucket, or name another one.',
  CredentialsProviderError: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  AccessDenied: 'Its keys must be allowed to get, put, list and delete objects there.',
  InvalidAccessKeyId: 'Check AWS_ACCESS_KEY_ID.',
  SignatureDoesNotMatch: 'Check AWS_SECRET_ACCESS_KEY and the region of BLOB_URL.',
  PermanentRedirect: 'The bucket is in another region: set region in BLOB_URL.',
  AuthorizationHeaderMalformed: 'The bucket is in another region: set region in BLOB_URL.',
};

export function adviceOn(error: unknown): string {
  const { name, code } = error as NodeJS.ErrnoException;
  return ADVICE[name] ?? (code === undefined ? '' : 'Check the endpoint of BLOB_URL, and that the store is running.');
}
