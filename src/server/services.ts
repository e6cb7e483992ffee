import { AccessNews } from '../access/access-news.ts'
import { configuredProvider } from '../access/configured-provider.ts'
import { Origins } from '../access/origins.ts'
import { Tokens } from '../access/tokens.ts'
import { IdempotentCalls } from '../api/idempotency/calls.ts'
import { PageTokens } from '../api/page-tokens.ts'
import type { Audit } from '../audit/audit.ts'
import type { Clock } from '../clock.ts'
import { type Comments, createComments } from '../comments/comments.ts'
import { participantsOf } from '../comments/participants.ts'
import { publicUrlOf } from '../config/public-url.ts'
import type { Config } from '../config.ts'
import type { Credentials } from '../directory/credentials-file.ts'
import { createDirectory, type Directory } from '../directory/directory.ts'
import { OrganizationStore } from '../directory/organization-store.ts'
import type { Tenancy } from '../directory/tenancy.ts'
import type { Engine } from '../engine/engine.ts'
import { ChangeWindows } from '../events/change-windows.ts'
import { Events, type Wanted } from '../events/events.ts'
import { eventTopic } from '../events/outbound.ts'
import { allNotes, type EditNotes } from '../events/windows.ts'
import type { Log } from '../log.ts'
import { Memory } from '../memory/memory.ts'
import type { Metrics } from '../metrics.ts'
import type { Tenant } from '../model/address.ts'
import type { LimitReports } from '../quota/reports.ts'
import { SharedRates } from '../quota/shared-rates.ts'
import { Rooms } from '../rooms/rooms.ts'
import { createSubscribing, forgetDeliveries, type Subscribing } from '../subscriptions/subscribing.ts'
import { userTraces } from '../userdata/traces.ts'
import { UserData } from '../userdata/user-data.ts'
import { createVersionParts } from '../versions/version-parts.ts'
import { Versions } from '../versions/versions.ts'
import { Destinations } from '../webhooks/destination.ts'
import { resolveName } from '../webhooks/resolve.ts'
import { Webhooks } from '../webhooks/webhooks.ts'

/** What the parts of one server are made from. */
export interface Base {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly engine: Engine
  readonly metrics: Metrics
  readonly reports: LimitReports
  readonly tenancy: Tenancy
  readonly auditing: Audit
  /** It is to be asked for nothing more, though it still answers. */
  readonly leaving: AbortSignal
  readonly stopping: AbortSignal
}

/** What the edges work with. */
export interface Services extends Base {
  readonly tokens: Tokens
  readonly rooms: Rooms
  readonly versions: Versions
  readonly organizations: OrganizationStore
  readonly directory: Directory
  readonly memory: Memory
  readonly userData: UserData
  readonly comments: Comments
  readonly subscribing: Subscribing
  readonly webhooks: Webhooks
  readonly accessNews: AccessNews
  readonly origins: Origins
  readonly pageTokens: PageTokens
  readonly idempotentCalls: IdempotentCalls
  /** What nodes count together; null: there is this one only. */
  readonly rates: SharedRates | null
  /** Whom those act as who show no credentials; null where credentials are required. */
  readonly defaultTenant: Tenant | null
}

/** Bytes of updates that wait for missing ones, a room. */
const heldBytesMax = 16_777_216
/** Awareness messages of a room: 25 a second. */
const awarenessWindowMs = 40
/** A document nobody works on is kept as bytes after one to two times this. */
const restMs = 20_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Everything between the store and the edges. */
export function createServices(base: Base, credentials: Credentials): Services {
  const { config, clock, engine, log, tenancy } = base
  const { workspaceId, apiKey, jwtSecret } = credentials
  const first = { workspaceId, apiKey }
  const subscribing = createSubscribing(engine, clock)
  const wanted: Wanted = (tenant, type) => subscribing.subscriptions.wanted(tenant, type)
  const events = new Events(clock, wanted)
  const organizations = new OrganizationStore(engine, events)
  const memory = new Memory(engine.kv, organizations, clock)
  const everyMs = config.versionMinutes * 60_000
  const kept = createVersionParts(engine, { organizations, clock, log, everyMs })
  const directory = createDirectory(engine, {
    store: organizations,
    clock,
    log,
    events,
    forget: async (scope, goOn) => {
      await memory.forget(scope, goOn)
      await forgetDeliveries(engine, subscribing, scope, goOn)
      await kept.store.forget(scope, goOn)
    },
    forgetDocument: (scope, documentId, goOn) => kept.store.forgetDocument(scope, documentId, goOn),
    editWindowMs: config.editWindowSeconds * 1000,
    awayMs: config.presenceLeaveSeconds * 1000,
  })
  const notes = allNotes([directory.edits.windows, changeWindows(base, wanted), kept.notes])
  const rooms = createRooms(base, directory, notes)
  const accessNews = new AccessNews({ engine, clock, log })
  return {
    ...base,
    rooms,
    versions: new Versions({ ...kept, rooms, engine, clock, log }),
    tokens: createTokens(base, credentials),
    subscribing,
    webhooks: createWebhooks(base, subscribing, organizations),
    organizations,
    directory,
    memory,
    userData: new UserData({
      engine,
      store: organizations,
      revocations: tenancy.revocations,
      traces: userTraces({ store: organizations, presence: rooms.presence, memory }),
      clock,
      log,
    }),
    comments: createComments({
      store: organizations,
      organizations: directory.organizations,
      events,
      memory,
      engine,
      clock,
      log,
    }),
    accessNews,
    origins: new Origins({
      domains: tenancy.domains,
      news: accessNews,
      clock,
      own: new URL(publicUrlOf(config)).origin,
    }),
    pageTokens: new PageTokens(jwtSecret, config.jwtSecretPrevious),
    idempotentCalls: createIdempotentCalls(base, jwtSecret),
    rates: sharedRatesOf(base),
    defaultTenant: config.auth === 'none' ? first : null,
  }
}

const sharedRatesOf = ({ engine: { bus, cluster }, clock }: Base): SharedRates | null =>
  cluster.isShared ? new SharedRates({ bus, self: cluster.self, clock }) : null

const changeWindows = ({ config, clock, engine }: Base, wanted: Wanted): EditNotes =>
  new ChangeWindows({
    clock,
    windowMs: config.crdtEventSeconds * 1000,
    isShared: engine.cluster.isShared,
    wanted,
    due: () => engine.bus.publish(eventTopic, new Uint8Array()),
  })

function createRooms(
  { config, engine, clock, metrics, log }: Base,
  directory: Directory,
  edits: EditNotes,
): Rooms {
  const options = {
    documentBytesMax: config.maxDocumentBytes,
    heldBytesMax,
    awarenessWindowMs,
    compactAfter: config.compactAfter,
    keepVersionsMs: config.keepVersionsSeconds * 1000,
    idleMs: config.idleUnloadSeconds * 1000,
    restMs,
    documentsPerWorkspaceMax: config.maxDocumentsPerWorkspace,
    replaceThreads: config.replaceThreads,
  }
  const { documents: records, visits } = directory
  return new Rooms(engine, options, { clock, metrics, logger: log, records, edits, visits: visits.visits })
}

function createTokens({ config, clock, tenancy }: Base, { jwtSecret, ...first }: Credentials): Tokens {
  const { tenants, revocations } = tenancy
  return new Tokens({
    secret: jwtSecret,
    previousSecret: config.jwtSecretPrevious,
    clock,
    isTenant: (tenant) => tenants.isTenant(tenant),
    revokedUntil: (tenant, userId) => revocations.revokedUntil(tenant, userId),
    foreign: configuredProvider(config, { first, tenants, clock }),
  })
}

const createIdempotentCalls = ({ config, engine, ...base }: Base, jwtSecret: string): IdempotentCalls =>
  new IdempotentCalls({
    ...base,
    kv: engine.kv,
    queue: engine.queue,
    cluster: engine.cluster,
    secrets: [jwtSecret, config.jwtSecretPrevious].filter((each) => each !== null),
    keepMs: config.idempotencyHours * hourMs,
  })

function createWebhooks(
  { config, engine, clock, log, metrics }: Base,
  subscribing: Subscribing,
  organizations: OrganizationStore,
): Webhooks {
  return new Webhooks({
    ...subscribing,
    engine,
    clock,
    log,
    metrics,
    organizations,
    participants: (scope, annotationId) => participantsOf(organizations.read(scope), annotationId),
    destinations: new Destinations(config.webhookAllow, resolveName),
    keepMs: config.webhookLogDays * dayMs,
  })
}
