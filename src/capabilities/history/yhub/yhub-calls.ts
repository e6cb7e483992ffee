import type { KeyCaller, UserCaller } from '../../../core/access/credentials/authenticator.ts'
import { invalid } from '../../../core/base/errors.ts'
import { type FromSchema, json, type ObjectSchema } from '../../../core/base/schema.ts'
import { type ChangeFilter, matchesOrigin } from '../../../core/content/history/change-sets.ts'
import type { DocumentAddress } from '../../../core/model/address.ts'
import { type ChangeOrigin, changeMetaLimits } from '../../../core/model/change-origin.ts'
import { BackendEdits } from '../../../core/rooms/edits/backend-edits.ts'
import type { RestoreOptions } from '../../../core/rooms/edits/edit-conditions.ts'
import { RoomHistory } from '../../../core/rooms/history/room-history.ts'
import { runInSlices } from '../../../core/rooms/log/read-attribution.ts'
import type { Attribution } from '../../../core/update/attribution/attribution.ts'
import { originsOf } from '../../../core/update/attribution/attribution-builder.ts'
import { encodeContentMapSteps, textsOf } from '../../../core/update/attribution/content-map.ts'
import { storedMeta } from '../../../rest/changes/change-meta.ts'
import { writableDocuments } from '../../../rest/editor-content.ts'
import { countGrowth } from '../../../rest/http/rate-limits.ts'
import type { Services } from '../../../rest/services.ts'
import { versionedEditor } from '../api/version-schema.ts'

/** Maximum number of entries of `activity`. */
const entriesMax = 1_000

interface YHubRequest {
  readonly caller: KeyCaller | UserCaller
  readonly address: DocumentAddress
  readonly services: Services
}

/** A call of y/hub. Its answer is a value that lib0 can encode. */
export interface YHubCall {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly schema: ObjectSchema
  /** @param data valid data of the schema */
  readonly run: (data: unknown, request: YHubRequest) => Promise<object>
}

const defineCall = <const Data extends ObjectSchema>(
  method: YHubCall['method'],
  schema: Data,
  run: (data: FromSchema<Data>, request: YHubRequest) => Promise<object>,
): YHubCall => ({ method, schema, run: (data, request) => run(data as FromSchema<Data>, request) })

const time = json.integer('Epoch milliseconds.', { minimum: 0 })
const range = { from: time, to: time, by: json.text() } as const
const query = { ...range, withCustomAttributions: json.text('`name:value,name:value`') } as const
const value = json.text(undefined, { maxLength: changeMetaLimits.valueCharacters })
const pairs = json.list(json.object({ k: json.text(), v: value }), { maxItems: changeMetaLimits.members })

const activity = defineCall(
  'GET',
  json.object(versionedEditor, {
    ...query,
    limit: json.integer(undefined, { minimum: 0 }),
    order: json.choice(['asc', 'desc']),
    group: json.boolean(),
    groupMaxGap: json.number(),
    groupMaxDuration: json.number(),
    mergeUsers: json.boolean(),
    customAttributions: json.boolean(),
  }),
  async ({ limit = entriesMax, group = true, groupMaxGap = 1_000, ...data }, { address, services }) => {
    const filter = filterOf(data, readPairs(data.withCustomAttributions))
    const origins = [...originsOf(await attributionOf(address, services))].filter(
      (origin) => origin.at > 0 && matchesOrigin(origin, filter),
    )
    const entries = groupActivity(origins, group ? groupMaxGap : 1, data.groupMaxDuration, data.mergeUsers)
    const ordered = data.order === 'desc' ? entries.toReversed() : entries
    return { activity: ordered.slice(0, Math.min(limit, entriesMax)) }
  },
)

const changeset = defineCall(
  'GET',
  json.object(versionedEditor, { ...query, ydoc: json.boolean(), attributions: json.boolean() }),
  async ({ ydoc, attributions, ...data }, { address, services }) => {
    const filter = filterOf(data, readPairs(data.withCustomAttributions))
    const isSelected = (origin: ChangeOrigin): boolean => matchesOrigin(origin, filter)
    const until = data.to ?? Number.MAX_SAFE_INTEGER
    const found: { ydoc?: Uint8Array; attributions?: Uint8Array } = {}
    if (ydoc === true)
      found.ydoc = await services.rooms.use(address, (room) => new RoomHistory(room).stateUntil(until))
    if (attributions === true)
      found.attributions = await runInSlices(
        encodeContentMapSteps(await attributionOf(address, services), isSelected),
      )
    return found
  },
)

const rollback = defineCall(
  'POST',
  json.object(versionedEditor, { ...range, withCustomAttributions: pairs, customAttributions: pairs }),
  async ({ customAttributions, withCustomAttributions = [], ...data }, request) => {
    const { caller, address, services } = request
    const filter = filterOf(data, withCustomAttributions)
    const { since, ...others } = filter
    const isRestore = Object.values(others).every((each) => each === undefined)
    if (isRestore && since === undefined)
      throw invalid('request/invalid-member', 'at least one filter must be given')
    // An entry of the activity ends with its last change, so the restored content of its time must have this change.
    const first = isRestore && since !== undefined ? since + 1 : since
    const options = await writing(request, 'undo', customAttributions)
    const { result } = await services.rooms.use(address, (room) =>
      new RoomHistory(room).undo(
        caller.level === 'key' ? '' : caller.identity.userId,
        { from: null, to: null },
        { ...filter, since: first, groupSeconds: 0 },
        isRestore ? 'keepMine' : 'report',
        options,
      ),
    )
    const [undone, notUndone] = [result.undone, result.notUndone.length]
    return { success: true, message: 'Rollback completed', undone, notUndone }
  },
)

const ydoc = defineCall(
  'PATCH',
  json.object({ ...versionedEditor, update: {} }, { customAttributions: pairs, by: json.id() }),
  async ({ update, customAttributions, by = '' }, request) => {
    if (!(update instanceof Uint8Array)) throw invalid('crdt/malformed-update', 'update must be bytes')
    const { caller, address, services } = request
    const options = await writing(request, 'rest', customAttributions)
    const userId = caller.level === 'key' ? by : caller.identity.userId
    await services.rooms.use(address, (room) => new BackendEdits(room).apply(userId, update, options))
    return { success: true, message: 'Document updated' }
  },
)

export const yhubCalls: Readonly<Record<string, YHubCall>> = { activity, changeset, rollback, ydoc }

const attributionOf = (address: DocumentAddress, { rooms }: Services): Promise<Attribution> =>
  rooms.use(address, (room) => new RoomHistory(room).attribution())

/** Adjacent changes, as y/hub lists them. Times are in epoch milliseconds. */
interface ActivityEntry {
  from: number
  to: number
  /** Ids of the users, separated by commas; null if no user is known. */
  by: string | null
  readonly customAttributions: readonly { readonly k: string; readonly v: string }[]
}

/**
 * Groups changes by time, the oldest first, until a pause of `gapMs`, and for at most `durationMs`. Changes with different
 * texts stay apart, so that later changes do not become a part of a named version.
 */
function groupActivity(
  origins: readonly ChangeOrigin[],
  gapMs: number,
  durationMs = Number.POSITIVE_INFINITY,
  mergesUsers = false,
): readonly ActivityEntry[] {
  const entries: ActivityEntry[] = []
  let texts = ''
  for (const origin of origins.toSorted((a, b) => a.at - b.at)) {
    const { at } = origin
    const by = origin.by || null
    const own = JSON.stringify(textsOf(origin))
    const last = entries.at(-1)
    const isNear = last !== undefined && at - last.to < gapMs && at - last.from < durationMs
    if (isNear && texts === own && (mergesUsers || last.by === by)) {
      last.to = at
      if (by !== null) last.by = [...new Set([...(last.by?.split(',') ?? []), by])].join(',')
    } else {
      const customAttributions = textsOf(origin).map(([k, v]) => ({ k, v }))
      entries.push({ from: at, to: at, by, customAttributions })
    }
    texts = own
  }
  return entries
}

type GivenTexts = FromSchema<typeof pairs>

/** Reads `name:value,name:value`. */
const readPairs = (text = ''): GivenTexts =>
  text.split(',').flatMap((pair) => {
    const [k = '', ...rest] = pair.split(':')
    return rest.length === 0 ? [] : [{ k, v: rest.join(':') }]
  })

const metaOf = (given: GivenTexts = []) =>
  given.length === 0 ? undefined : Object.fromEntries(given.map(({ k, v }) => [k, v]))

const filterOf = (
  { from, to, by }: { readonly from?: number; readonly to?: number; readonly by?: string },
  given: GivenTexts,
): ChangeFilter => ({ since: from, until: to, by: by || undefined, meta: metaOf(given) })

/** Returns the conditions and the data of a change. */
async function writing(
  { caller, address, services }: YHubRequest,
  source: 'undo' | 'rest',
  given: GivenTexts | undefined,
): Promise<RestoreOptions> {
  const [right, rootSchema, full, meta] = await Promise.all([
    writableDocuments(services, caller).rightToChange(address),
    services.schemas.of(address),
    countGrowth(services, caller, 0),
    storedMeta(metaOf(given), caller, services),
  ])
  return { expects: 'content', right, rootSchema, full, cause: { source, meta } }
}
