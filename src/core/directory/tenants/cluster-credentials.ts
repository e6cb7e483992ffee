import { createHmac } from 'node:crypto'
import * as s from '../../base/schema.ts'
import type { Config } from '../../config/config.ts'
import { withClusterLock } from '../../jobs/cluster-lock.ts'
import type { Cluster, Engine, Key, Kv } from '../../store/engine.ts'
import { encodeRecord, readRecord } from '../../store/stored-record.ts'
import {
  BootstrapError,
  type BootstrapOptions,
  type Bootstrapped,
  bootstrap,
  type ConfiguredCredentials,
} from './bootstrap.ts'
import type { StoredCredentials } from './credentials-file.ts'

/**
 * Partition that contains the agreement between the nodes. An export does not contain it, because it has
 * secrets.
 */
export const clusterPart: Key = ['cluster']
const agreementKey: Key = ['agreement']

/** The values that all nodes of a store must have in common. */
const agreementType = {
  name: 'agreement of the nodes',
  schema: s.object(
    {
      workspaceId: s.string,
      apiKey: s.string,
      /** The generated signing secret. Null if the secret is configured; it is then not stored here. */
      jwtSecret: s.orNull(s.string),
      /** Check values of the signing secrets of the node that started last; see `checkOf`. */
      checks: s.array(s.string),
    },
    {
      /** The default access type. Absent if a node of an earlier version, or a restore, wrote the agreement. */
      defaultAccess: s.choice(['public', 'organizationPrivate', 'restricted']),
    },
  ),
}
type Agreement = s.TypeOf<typeof agreementType.schema>

type Secrets = Pick<Config, 'jwtSecret' | 'jwtSecretPrevious'>
type Shared = Secrets & Pick<Config, 'defaultAccess'>

/**
 * Returns the check value of a secret. Equal secrets have equal check values. A check value cannot be used
 * for signing.
 */
const checkOf = (secret: string): string =>
  createHmac('sha256', secret).update('weft cluster').digest('base64url')

const checksOf = (secrets: readonly (string | null)[]): readonly string[] =>
  secrets.flatMap((secret) => (secret === null ? [] : [checkOf(secret)]))

interface NodeBootstrapOptions extends Omit<BootstrapOptions, 'agreed' | 'first'> {
  /**
   * Storage of the credentials of the server: the store, or the data directory if it also contains the store.
   */
  readonly keptIn: 'directory' | 'store'
  readonly configured: ConfiguredCredentials & Shared
}

/**
 * Runs `bootstrap` for a node. Only one node at a time runs this function. Values that are not configured are
 * taken from the other nodes. The values of this node become the agreement. While other nodes are alive, the
 * values of this node must equal theirs.
 * @throws BootstrapError like `bootstrap`, and if the values of this node differ from those of the other
 * nodes
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
      // If `replace` returns false, the start took longer than its lock. Other nodes have created values in
      // the meantime and serve with them, so the loop starts again.
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
  bytes === null ? null : readRecord(agreementType, { key: agreementKey, value: bytes })

const agreementIn = async (kv: Kv): Promise<Agreement | null> => decoded(await agreementBytes(kv))

/** Replaces the agreement. Returns false if another node has changed the agreement since it was read. */
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

/**
 * Checks that the values of this node agree with those of the other nodes. The other nodes must know the
 * current or the previous secret of this node. One of the two is enough, because nodes with the old secret
 * and nodes with the new one serve at the same time while a secret is being replaced.
 * @throws BootstrapError
 */
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
    `${option} differs from that of the other nodes on this store: set the same value on all nodes, or stop the others first`,
  )

/**
 * Stores the credentials of a file as the agreement, so that each node can start first. Does nothing if they are
 * incomplete, or if the store already has an agreement.
 */
export async function storeClusterCredentials(kv: Kv, kept: StoredCredentials | null): Promise<void> {
  const { workspaceId, apiKey, jwtSecret } = kept ?? {}
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
