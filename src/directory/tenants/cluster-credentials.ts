import { createHmac } from 'node:crypto'
import type { Config } from '../../config.ts'
import type { Cluster, Engine, Key, Kv } from '../../engine/engine.ts'
import { withClusterLock } from '../../jobs/cluster-lock.ts'
import { decodeRecord, encodeRecord } from '../store/records.ts'
import {
  BootstrapError,
  type BootstrapOptions,
  type Bootstrapped,
  bootstrap,
  type ConfiguredCredentials,
} from './bootstrap.ts'
import type { StoredCredentials } from './credentials-file.ts'

/** The partition of what nodes agree on: it is of this store alone. */
export const clusterPart: Key = ['cluster']
const agreementKey: Key = ['agreement']

/** What all nodes on one store have in common. */
interface Agreement {
  readonly workspaceId: string
  readonly apiKey: string
  /** The secret that was generated; null: it is configured, and not kept here. */
  readonly jwtSecret: string | null
  /** Absent: a node of an earlier version agreed, or an import. */
  readonly defaultAccess?: Config['defaultAccess']
  /** Of the secrets that the node has which has started last: see `checkOf`. */
  readonly checks: readonly string[]
}

type Secrets = Pick<Config, 'jwtSecret' | 'jwtSecretPrevious'>
type Shared = Secrets & Pick<Config, 'defaultAccess'>

/** Tells whether two secrets are the same; nobody can sign with it. */
const checkOf = (secret: string): string =>
  createHmac('sha256', secret).update('weft cluster').digest('base64url')

const checksOf = (secrets: readonly (string | null)[]): readonly string[] =>
  secrets.flatMap((secret) => (secret === null ? [] : [checkOf(secret)]))

export interface NodeBootstrapOptions extends Omit<BootstrapOptions, 'agreed' | 'first'> {
  /** The place of the server's credentials: the store, or the data directory if that also contains the store. */
  readonly keptIn: 'directory' | 'store'
  readonly configured: ConfiguredCredentials & Shared
}

/**
 * `bootstrap` of a node: one node at a time, and with what the others use where nothing is configured. What it is started
 * with is what is agreed on from then on; where others are alive it must be what they have.
 * @throws BootstrapError as `bootstrap`, and when the nodes would differ
 */
export async function bootstrapNode(
  { kv, leases, cluster }: Pick<Engine, 'kv' | 'leases' | 'cluster'>,
  options: NodeBootstrapOptions,
): Promise<Bootstrapped> {
  if (options.keptIn === 'directory')
    return bootstrap({ ...options, agreed: credentialsOf(await agreementIn(kv)), first: 'kept' })
  return withClusterLock(leases, 'starts', async () => {
    for (;;) {
      const bytes = await agreementBytes(kv)
      const agreement = decoded(bytes)
      if (agreement !== null && !isAlone(cluster)) check(agreement, options.configured)
      const started = await bootstrap({ ...options, agreed: credentialsOf(agreement), first: 'agreed' })
      // Else it has taken so long that its turn was over, and others serve with what they have made meanwhile.
      if (await replace(kv, bytes, agreementOf(started, options.configured))) return started
    }
  })
}

const isAlone = (cluster: Pick<Cluster, 'self' | 'nodes'>): boolean =>
  cluster.nodes().every((node) => node === cluster.self)

async function agreementBytes(kv: Kv): Promise<Uint8Array | null> {
  const [bytes = null] = await kv.get(clusterPart, [agreementKey])
  return bytes
}

const decoded = (bytes: Uint8Array | null): Agreement | null =>
  bytes === null ? null : (decodeRecord(bytes) as Agreement)

const agreementIn = async (kv: Kv): Promise<Agreement | null> => decoded(await agreementBytes(kv))

/** False where it is another one than before. */
const replace = (kv: Kv, before: Uint8Array | null, agreement: Agreement): Promise<boolean> =>
  kv.commit(clusterPart, {
    checks: [{ key: agreementKey, value: before }],
    puts: [{ key: agreementKey, value: encodeRecord(agreement) }],
  })

function credentialsOf(agreement: Agreement | null): BootstrapOptions['agreed'] {
  if (agreement === null) return {}
  const { workspaceId, apiKey, jwtSecret } = agreement
  return { workspaceId, apiKey, ...(jwtSecret !== null && { jwtSecret }) }
}

/** Secrets are changed while others serve by nodes that know the old and the new one. */
function check(
  agreement: Agreement,
  { workspaceId, apiKey, defaultAccess, ...secrets }: NodeBootstrapOptions['configured'],
): void {
  if (workspaceId !== null && workspaceId !== agreement.workspaceId) throw differs('WEFT_WORKSPACE_ID')
  if (apiKey !== null && apiKey !== agreement.apiKey) throw differs('WEFT_API_KEY')
  if (defaultAccess !== (agreement.defaultAccess ?? defaultAccess)) throw differs('WEFT_DEFAULT_ACCESS')
  const { jwtSecret, jwtSecretPrevious } = secrets
  if (jwtSecret === null && agreement.jwtSecret !== null) return
  const own = jwtSecret === null ? [] : checksOf([jwtSecret, jwtSecretPrevious])
  if (!own.some((each) => agreement.checks.includes(each))) throw differs('WEFT_JWT_SECRET')
}

const differs = (option: string): BootstrapError =>
  new BootstrapError(
    `${option} is not what the other nodes on this store have: give all of them the same, or stop the others first`,
  )

/** What nodes on this store have agreed on, to be kept elsewhere; null: nothing yet. */
export async function readClusterCredentials(kv: Kv): Promise<StoredCredentials | null> {
  const agreement = await agreementIn(kv)
  return agreement === null ? null : credentialsOf(agreement)
}

/** What nodes are to agree on that have not agreed on anything: what was kept elsewhere, if it is all of it. */
export async function importClusterCredentials(
  kv: Kv,
  { workspaceId, apiKey, jwtSecret }: StoredCredentials,
): Promise<void> {
  if (workspaceId === undefined || apiKey === undefined || jwtSecret === undefined) return
  await replace(kv, null, { workspaceId, apiKey, jwtSecret, checks: checksOf([jwtSecret]) })
}

function agreementOf({ credentials }: Bootstrapped, configured: Shared): Agreement {
  const { workspaceId, apiKey, jwtSecret } = credentials
  return {
    workspaceId,
    apiKey,
    jwtSecret: configured.jwtSecret === null ? jwtSecret : null,
    defaultAccess: configured.defaultAccess,
    checks: checksOf([jwtSecret, configured.jwtSecretPrevious]),
  }
}
