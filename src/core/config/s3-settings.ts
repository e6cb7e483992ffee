import { ConfigError } from '../base/errors.ts'
import { readSecretFile } from './variables.ts'

/** How to reach the buckets of a service that is compatible with S3. */
export interface S3Settings {
  /** URL of the service; null for Amazon S3. */
  readonly endpoint: string | null
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Session token of temporary credentials. */
  readonly sessionToken: string | null
}

/**
 * Reads the variables that the tools of AWS use: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
 * `AWS_SESSION_TOKEN`, `AWS_REGION` or `AWS_DEFAULT_REGION`, and `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`. A
 * variable with the name of a credential and `_FILE` names a file with the credential.
 * @throws ConfigError if the credentials are missing or cannot be read, or if the endpoint is not an HTTP URL of a host
 * without a user name and a password
 */
export function readS3Settings(environment: NodeJS.ProcessEnv = process.env): S3Settings {
  const read = (...names: readonly string[]): string | null =>
    names.map((name) => environment[name]).find((value) => value !== undefined && value !== '') ?? null
  const secret = (name: string): string | null => {
    const text = readSecretFile(name, environment)?.text ?? environment[name]
    return text === undefined || text === '' ? null : text
  }
  const [accessKeyId, secretAccessKey] = [secret('AWS_ACCESS_KEY_ID'), secret('AWS_SECRET_ACCESS_KEY')]
  if (accessKeyId === null || secretAccessKey === null)
    throw new ConfigError(
      'the credentials of the bucket are missing: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name files in AWS_ACCESS_KEY_ID_FILE and AWS_SECRET_ACCESS_KEY_FILE',
    )
  const endpoint = read('AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL')
  if (endpoint !== null && !isServiceUrl(endpoint)) {
    const name = read('AWS_ENDPOINT_URL_S3') === null ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3'
    // The message does not contain the URL, because a URL may contain a password.
    throw new ConfigError(
      `${name} is not the URL of a service; expected one such as https://s3.example.com, without a user, a password and a path`,
    )
  }
  return {
    endpoint: endpoint?.replace(/\/$/, '') ?? null,
    region: read('AWS_REGION', 'AWS_DEFAULT_REGION') ?? 'us-east-1',
    accessKeyId,
    secretAccessKey,
    sessionToken: secret('AWS_SESSION_TOKEN'),
  }
}

const isServiceUrl = (text: string): boolean =>
  /^https?:\/\/[A-Za-z0-9._:[\]-]+\/?$/.test(text) && URL.canParse(text)
