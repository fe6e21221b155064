/**
 * The location of an S3-compatible store, in the form of BLOB_URL:
 * `s3://bucket[/prefix]?endpoint=…&region=…&path_style=0|1`.
 */
export type S3Location = {
  bucket: string;
  /** The prefix of all keys; ends in a slash, or is empty. */
  prefix: string;
  /** Null: Amazon's own endpoint of the region. */
  endpoint: string | null;
  /** Null: the environment's AWS_REGION, or us-east-1. */
  region: string | null;
  /** Whether the bucket stands in the path of addresses, not in their host name. */
  path_style: boolean;
};

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[A-Za-z0-9_-]{1,100}\/){0,5}$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const PARAMETERS = ['endpoint', 'region', 'path_style'];

/** Reads a BLOB_URL; returns a text that states its required form if it is invalid. */
export function readS3Location(text: string): S3Location | string {
  if (!URL.canParse(text)) return 'must be s3://bucket?endpoint=…';
  const url = new URL(text);
  if (url.protocol !== 's3:') return 'must be s3://bucket?endpoint=…';
  if (url.username !== '' || url.password !== '')
    return 'must not hold keys: they belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  const parameters = url.searchParams;
  for (const name of parameters.keys()) {
    if (!PARAMETERS.includes(name)) return `must have no other parameters than ${PARAMETERS.join(', ')}`;
    if (parameters.getAll(name).length > 1) return `must have ${name} once`;
  }
  const bucket = url.host;
  if (!BUCKET.test(bucket)) return 'must name a bucket in 3 to 63 lower-case letters, digits, dots and hyphens';
  const folders = url.pathname.replace(/^\/|\/$/g, '');
  const prefix = folders === '' ? '' : `${folders}/`;
  if (!PREFIX.test(prefix)) return 'may have at most five folders of letters, digits, - and _ behind the bucket';
  const endpoint = parameters.get('endpoint');
  if (endpoint !== null && !isEndpoint(endpoint))
    return 'must have an http or https address without a path as endpoint';
  const region = parameters.get('region');
  if (region !== null && !REGION.test(region)) return 'must have a name such as eu-central-1 as region';
  const path_style = parameters.get('path_style') ?? (endpoint === null ? '0' : '1');
  if (path_style !== '0' && path_style !== '1') return 'must have 0 or 1 as path_style';
  return { bucket, prefix, endpoint: endpoint && new URL(endpoint).origin, region, path_style: path_style === '1' };
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return ['http:', 'https:'].includes(url.protocol) && url.href === `${url.origin}/`;
}
