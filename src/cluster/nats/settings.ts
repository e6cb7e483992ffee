import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type TlsOptions,
} from '@nats-io/transport-node'
import { errorMessage } from '../../core/base/errors.ts'

export interface NatsSettings {
  /**
   * URLs of the servers of one NATS cluster, such as `nats://user:password@host:4222`, `nats://token@host` or
   * `tls://host`.
   */
  readonly urls: readonly string[]
  /** Path of a credentials file (`.creds`). The file is read again for each connection. */
  readonly credentialsFile?: string | null
  /** Name of this connection in the lists of the server. */
  readonly name?: string
  /** Maximum time in ms for connecting to one server. Default 5,000. */
  readonly connectTimeoutMs?: number
}

/** Idle time in ms after which the client sends a ping. Two unanswered pings end the connection. */
const pingIntervalMs = 2_000

/**
 * Thrown if a server rejects the client. Retrying is useless until the operator corrects the configuration.
 * The message never contains secrets.
 */
export class NatsRejectedError extends Error {
  override readonly name = 'NatsRejectedError'
}

/**
 * Connects to the first server that accepts the client. Tries the servers in random order.
 * @throws NatsRejectedError if a server has rejected the client; otherwise the reason why no server was
 * reached
 */
export async function connectToAny(settings: NatsSettings): Promise<NatsConnection> {
  const urls = settings.urls.map((url) => new URL(url))
  const credentials = authentication(urls, settings.credentialsFile ?? null)
  let failure: unknown = new Error('no server is named')
  for (const { url } of urls.map((url) => ({ url, at: Math.random() })).sort((a, b) => a.at - b.at)) {
    try {
      return await connect({ ...connectionOptions(url, settings), ...credentials })
    } catch (error) {
      const isRefusal = error instanceof errors.AuthorizationError
      if (isRefusal)
        failure = new NatsRejectedError(`NATS refuses this server: ${errorMessage(error)}`, { cause: error })
      else if (!(failure instanceof NatsRejectedError)) failure = error
    }
  }
  throw failure
}

/**
 * Returns the options of one connection. They disable the reconnection of the library, because
 * `BusConnection` reconnects itself.
 */
const connectionOptions = (url: URL, settings: NatsSettings): ConnectionOptions => ({
  // Contains only the host and no secrets, because error messages may contain this value.
  servers: url.host,
  ...(settings.name === undefined ? {} : { name: settings.name }),
  ...(url.protocol === 'tls:' ? { tls: tlsOptions(url.hostname) } : {}),
  timeout: settings.connectTimeoutMs ?? 5_000,
  pingInterval: pingIntervalMs,
  reconnect: false,
  noEcho: true,
  noAsyncTraces: true,
  ignoreClusterUpdates: true,
})

/**
 * Returns TLS options that check the certificate against `hostname`. If `hostname` is an IP address, the
 * library would otherwise expect a certificate for `localhost`.
 */
function tlsOptions(hostname: string): TlsOptions {
  const address = hostname.replace(/^\[|\]$/g, '')
  if (isIP(address) === 0) return {}
  const check = (_: string, certificate: PeerCertificate) => checkServerIdentity(address, certificate)
  return { checkServerIdentity: check } as TlsOptions
}

function authentication(urls: readonly URL[], credentialsFile: string | null): Partial<ConnectionOptions> {
  if (credentialsFile !== null) return { authenticator: credsAuthenticator(readCredentials(credentialsFile)) }
  const url = urls.find(({ username }) => username !== '')
  if (url === undefined) return {}
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  return pass === '' ? { token: user } : { user, pass }
}

function readCredentials(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new NatsRejectedError(`the credentials for NATS cannot be read: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}
