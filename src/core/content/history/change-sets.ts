import * as Y from 'yjs'
import type { ChangeMeta, ChangeOrigin } from '../../model/change-origin.ts'
import { type Json, toJson } from '../json/json.ts'
import { rootNames } from '../roots.ts'
import { isKindEntry, type SharedRoot } from '../yjs/root-kind.ts'
import { type ChangeGroup, type GroupedChanges, groupChanges } from './change-groups.ts'
import { FormatTracker } from './format-tracker.ts'
import { type ChangedSide, type ChangeHunk, type EntryChange, HunkBuilder } from './hunk.ts'
import type { Segment, SegmentReader } from './segments.ts'
import { charactersIn, formOfRoot, formOfType, isIn, type TypeForm, VersionValues } from './version-values.ts'

/** Changes of one author between two versions, with the changed content. */
export interface ChangeSet
  extends Pick<ChangeGroup, 'changeId' | 'userId' | 'firstAt' | 'lastAt' | 'source' | 'meta'> {
  /** Number of inserted and of deleted UTF-16 units and values. */
  readonly inserted: number
  readonly deleted: number
  /** In the order of the document. The index of a hunk is its number. */
  readonly hunks: readonly ChangeHunk[]
  /** True if hunks were left out, because there are too many. */
  readonly truncated: boolean
}

/** The conditions that changes must meet; absent: all changes do. */
export interface ChangeFilter {
  /** Only the changes of this user. */
  readonly by?: string | undefined
  /** Only changes with all these members. */
  readonly meta?: ChangeMeta | undefined
  /** Only changes from this time, and up to this time, in epoch milliseconds. An unknown time is 0. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export interface ChangeSetOptions extends ChangeFilter {
  /** See `groupChanges`. */
  readonly groupSeconds?: number | undefined
  /** Number of change sets to leave out at the start; default: 0. */
  readonly skip?: number | undefined
  /** Maximum number of change sets; default: 100. */
  readonly changesMax?: number | undefined
  /** Maximum number of hunks of a change set; default: 100. */
  readonly hunksMax?: number | undefined
  /** Approximate maximum number of characters of each member of a hunk; default: 1,000. */
  readonly charactersMax?: number | undefined
}

export interface ChangeSetPage {
  /** By time. Changes without a known time are first. */
  readonly changes: readonly ChangeSet[]
  /** Number of all change sets that match the options. */
  readonly total: number
}

/** Lists the changes between the two versions of a history. Takes linear time. */
export function readChangeSets(reader: SegmentReader, options: ChangeSetOptions = {}): ChangeSetPage {
  const { skip = 0, changesMax = 100, hunksMax = 100, charactersMax = 1_000 } = options
  const grouped = groupChanges(reader, options.groupSeconds)
  const matching = grouped.groups.filter((group) => matchesGroup(group, options))
  const shown = matching.slice(skip, skip + changesMax)
  const walk = new HunkWalk(reader, grouped, new Set(shown), { hunksMax, charactersMax })
  walk.run()
  return { changes: shown.map((group) => toChangeSet(group, walk.hunksOf(group))), total: matching.length }
}

/** Returns whether a group meets all conditions. */
export function matchesGroup(
  { userId, meta, firstAt, lastAt }: Pick<ChangeGroup, 'userId' | 'meta' | 'firstAt' | 'lastAt'>,
  wanted: ChangeFilter,
): boolean {
  if (wanted.by !== undefined && wanted.by !== userId) return false
  if ((firstAt ?? 0) < (wanted.since ?? 0) || (lastAt ?? 0) > (wanted.until ?? Number.POSITIVE_INFINITY))
    return false
  return Object.entries(wanted.meta ?? {}).every(
    ([name, value]) => meta !== null && Object.hasOwn(meta, name) && meta[name] === value,
  )
}

/** Returns whether changes of an origin meet all conditions; null stands for an unknown origin. */
export const matchesOrigin = (origin: ChangeOrigin | null, wanted: ChangeFilter): boolean => {
  const { by: userId = null, meta = null, at = null } = origin ?? {}
  return matchesGroup({ userId, meta, firstAt: at, lastAt: at }, wanted)
}

function toChangeSet(group: ChangeGroup, { hunks, isCut }: GroupHunks): ChangeSet {
  const { changeId, userId, firstAt, lastAt, source, meta, insertions, deletions } = group
  const counts = { inserted: insertions, deleted: deletions }
  return { changeId, userId, firstAt, lastAt, source, meta, ...counts, hunks, truncated: isCut }
}

interface GroupHunks {
  readonly hunks: readonly ChangeHunk[]
  /** True if there are more than `hunksMax`. */
  readonly isCut: boolean
}

interface WalkLimits {
  readonly hunksMax: number
  readonly charactersMax: number
}

/** The parts of one group while the document is read. */
interface GroupProgress {
  readonly hunks: ChangeHunk[]
  /** Number of hunks so far, including those that exceed the limit. */
  count: number
  /** The hunks of the current root. */
  open: HunkBuilder[]
  /** The last hunk; null if it exceeds the limit. */
  last: HunkBuilder | null
  /** Number of visible parts of the root at the end of the last hunk. */
  endsAt: number
  /** Marks that belong to the next hunk. */
  waiting: [ChangedSide, Segment][]
}

type Path = readonly (string | number)[]

/** Called with the number of the hunk to which each changed segment of a group belongs. */
type HunkListener = (group: ChangeGroup, hunk: number, side: ChangedSide, segment: Segment) => void

/** Reads all roots of a history in the order of the document, and collects the hunks of some groups. */
export class HunkWalk {
  readonly #reader: SegmentReader
  readonly #grouped: GroupedChanges
  readonly #parts: ReadonlyMap<ChangeGroup, GroupProgress>
  readonly #limits: WalkLimits
  readonly #listener: HunkListener | null
  #contentKey = ''
  /** The text of the current root in the later version. */
  #text: string[] = []
  #length = 0
  /** Number of parts of the current root that one of the versions contains. */
  #visible = 0

  constructor(
    reader: SegmentReader,
    grouped: GroupedChanges,
    groups: ReadonlySet<ChangeGroup>,
    limits: WalkLimits,
    listener: HunkListener | null = null,
  ) {
    this.#reader = reader
    this.#grouped = grouped
    this.#limits = limits
    this.#listener = listener
    this.#parts = new Map([...groups].map((group) => [group, emptyParts()]))
  }

  run(): void {
    const { doc } = this.#reader.history
    for (const contentKey of rootNames(doc)) {
      this.#contentKey = contentKey
      this.#type({
        type: doc.share.get(contentKey) as SharedRoot,
        form: formOfRoot(doc, contentKey),
        path: [],
        shown: null,
        entriesShown: null,
      })
      this.#closeRoot()
    }
  }

  hunksOf(group: ChangeGroup): GroupHunks {
    const { hunks = [], count = 0 } = this.#parts.get(group) ?? {}
    return { hunks, isCut: count > hunks.length }
  }

  #closeRoot(): void {
    for (const [group, parts] of this.#parts)
      if (parts.waiting.length > 0) {
        if (parts.open.length === 0) this.#start(group, [])
        else this.#notifyWaiting(group)
      }
    const text = this.#text.join('')
    for (const parts of this.#parts.values()) {
      for (const builder of parts.open) parts.hunks.push(builder.build(text))
      parts.open = []
      parts.last = null
      parts.endsAt = -1
    }
    this.#text = []
    this.#length = 0
    this.#visible = 0
  }

  #type({ type, form, path, shown, entriesShown }: WalkedType): void {
    for (const [key, last] of type._map)
      if (!isKindEntry(key)) this.#entry(last, [...path, key], entriesShown)
    const formats = new FormatTracker()
    let index = 0
    for (let item = type._start; item !== null; item = item.right)
      for (const segment of this.#reader.of(item)) {
        const place = [...path, index]
        if (item.countable) {
          this.#content(segment, form, place, shown)
          this.#formatting(segment, formats, place)
          if (isIn('to', segment.state)) index += segment.length
        } else {
          formats.add(segment)
          this.#mark(segment)
        }
      }
  }

  /** A mark belongs to the hunk that ends at it, or else to the next one. */
  #mark(segment: Segment): void {
    for (const [side, group] of this.#sidesOf(segment)) {
      const parts = this.#partsOf(group)
      if (parts.endsAt === this.#visible) this.#listener?.(group, parts.count - 1, side, segment)
      else parts.waiting.push([side, segment])
    }
  }

  #content(segment: Segment, form: TypeForm, path: Path, shown: ChangeGroup | null): void {
    const { item, offset, length, state } = segment
    const { content } = item
    const text = charactersIn(item, offset, length)
    const sides = this.#sidesOf(segment)
    if (isIn('from', state) || isIn('to', state)) this.#visible += 1
    for (const [side, group] of sides) {
      const hunk = group === shown ? null : this.#hunk(group, path, segment)
      this.#listener?.(group, this.#partsOf(group).count - 1, side, segment)
      if (hunk === null) continue
      if (text !== '') hunk.addText(side, text)
      else if (content instanceof Y.ContentType && (form === 'xml' || form === 'text'))
        hunk.addNode(side, nameOfNode(content.type))
      else {
        const values = this.#values(side)
        hunk.addValues(side, values.of(item, offset, length), values.isCut)
      }
    }
    if (isIn('to', state)) this.#advance(text)
    for (const [, group] of sides) this.#extend(group)
    if (!(content instanceof Y.ContentType)) return
    this.#nested(segment, content.type, { form, path, shown })
    for (const [, group] of sides) this.#extend(group)
  }

  #nested(
    segment: Segment,
    type: SharedRoot,
    { form, path, shown }: Pick<WalkedType, 'form' | 'path' | 'shown'>,
  ): void {
    const isBlock = type instanceof Y.XmlElement || (form === 'text' && type instanceof Y.XmlText)
    if (isBlock && isIn('to', segment.state) && this.#length > 0) this.#advance('\n')
    const group = this.#mainGroup(segment) ?? shown
    this.#type({
      type,
      form: formOfType(type),
      path,
      shown: form === 'array' ? group : shown,
      entriesShown: group,
    })
  }

  #advance(text: string): void {
    if (text === '') return
    this.#text.push(text)
    this.#length += text.length
  }

  #formatting({ item, offset, length, state }: Segment, formats: FormatTracker, path: Path): void {
    if (state !== 'unchanged') return
    for (const { name, before, after, origin } of formats.differences()) {
      const group = origin === undefined ? undefined : this.#grouped.groupOf(origin)
      if (group === undefined || !this.#parts.has(group)) continue
      const hunk = this.#hunk(group, path, null)
      hunk?.addFormat({
        name,
        before: toJson(before) ?? null,
        after: toJson(after) ?? null,
        text: charactersIn(item, offset, length),
      })
      this.#extend(group)
    }
  }

  /** Reads the history of one entry of a map, or of one attribute. */
  #entry(last: Y.Item, path: Path, shown: ChangeGroup | null): void {
    const chain: Segment[] = []
    for (let item: Y.Item | null = last; item !== null; item = item.left)
      chain.push(...this.#reader.of(item).toReversed())
    chain.reverse()
    const changes = [...this.#entryChanges(chain)]
    const isHunk = changes.some(([group]) => group !== shown)
    // An entry is always a hunk of its own.
    if (isHunk) this.#visible += 2
    for (const [group, change] of changes) {
      const hunk = group === shown ? null : this.#hunk(group, path, null)
      if (hunk !== null) this.#addEntry(hunk, path.at(-1) as string, change)
      if (group !== shown) this.#extend(group)
    }
    if (this.#listener !== null)
      for (const segment of chain)
        for (const [side, group] of this.#sidesOf(segment))
          this.#listener(group, this.#partsOf(group).count - 1, side, segment)
    if (isHunk) this.#visible += 1
    for (const segment of chain) {
      const { content } = segment.item
      if (!(content instanceof Y.ContentType)) continue
      const group = this.#mainGroup(segment) ?? shown
      const { type } = content
      this.#type({ type, form: formOfType(type), path, shown: group, entriesShown: group })
    }
  }

  /** Returns the first value before and the last value after the changes of each group. */
  #entryChanges(chain: readonly Segment[]): ReadonlyMap<ChangeGroup, ChangedEntry> {
    const changed = new Map<ChangeGroup, ChangedEntry>()
    const add = (origin: ChangeOrigin | null, before: Segment | null, after: Segment | null): void => {
      const group = this.#grouped.groupOf(origin)
      if (group === undefined || !this.#parts.has(group)) return
      const first = changed.get(group)
      changed.set(group, { before: first === undefined ? before : first.before, after })
    }
    let previous: Segment | null = null
    for (const [at, segment] of chain.entries()) {
      const { state, inserter, deleter } = segment
      if (state === 'past' || state === 'later') continue
      if (state === 'inserted' || state === 'transient') add(inserter, previous, segment)
      previous = segment
      const next = chain[at + 1]
      const isOverwritten = next !== undefined && next.state !== 'later'
      if (state !== 'deleted' && state !== 'transient') continue
      if (isOverwritten && this.#grouped.groupOf(next.inserter) === this.#grouped.groupOf(deleter)) continue
      add(deleter, segment, null)
      if (!isOverwritten) previous = null
    }
    return changed
  }

  #addEntry(hunk: HunkBuilder, key: string, { before, after }: ChangedEntry): void {
    const values = { before: this.#values('deleted'), after: this.#values('inserted') }
    const [old, present] = [lastValue(values.before, before), lastValue(values.after, after)]
    const entry: EntryChange = {
      key,
      ...(old !== undefined && { before: old }),
      ...(present !== undefined && { after: present }),
    }
    hunk.addEntry(entry, values.before.isCut || values.after.isCut)
  }

  #values(side: ChangedSide): VersionValues {
    const version = side === 'deleted' ? 'from' : 'to'
    return new VersionValues(this.#reader.history, version, this.#limits.charactersMax)
  }

  /** Returns the wanted groups that have inserted or deleted a segment. */
  #sidesOf({ state, inserter, deleter }: Segment): readonly [ChangedSide, ChangeGroup][] {
    if (state === 'unchanged' || state === 'past' || state === 'later') return []
    const inserting = state === 'deleted' ? undefined : this.#grouped.groupOf(inserter)
    const deleting = state === 'inserted' ? undefined : this.#grouped.groupOf(deleter)
    const sides: [ChangedSide, ChangeGroup][] = []
    if (inserting === deleting) return sides
    if (deleting !== undefined && this.#parts.has(deleting)) sides.push(['deleted', deleting])
    if (inserting !== undefined && this.#parts.has(inserting)) sides.push(['inserted', inserting])
    return sides
  }

  /** Returns the group whose hunk shows a whole shared type as inserted or deleted. */
  #mainGroup({ state, inserter, deleter }: Segment): ChangeGroup | null {
    if (state === 'deleted') return this.#grouped.groupOf(deleter) ?? null
    return state === 'inserted' ? (this.#grouped.groupOf(inserter) ?? null) : null
  }

  /**
   * Returns the hunk of a group to which a part belongs: the last hunk if only parts of the group are between, or a
   * new one. Returns null if the group has too many hunks.
   */
  #hunk(group: ChangeGroup, path: Path, segment: Segment | null): HunkBuilder | null {
    const parts = this.#partsOf(group)
    const isVisible = segment === null || isIn('from', segment.state) || isIn('to', segment.state)
    if (parts.endsAt === this.#visible || parts.endsAt === this.#visible - (isVisible ? 1 : 0))
      return parts.last
    return this.#start(group, path)
  }

  #start(group: ChangeGroup, path: Path): HunkBuilder | null {
    const parts = this.#partsOf(group)
    parts.count += 1
    const isCut = parts.count > this.#limits.hunksMax
    const place = { contentKey: this.#contentKey, path, start: this.#length }
    parts.last = isCut ? null : new HunkBuilder(place, this.#limits.charactersMax)
    if (parts.last !== null) parts.open.push(parts.last)
    parts.endsAt = this.#visible
    this.#notifyWaiting(group)
    return parts.last
  }

  #notifyWaiting(group: ChangeGroup): void {
    const parts = this.#partsOf(group)
    for (const [side, segment] of parts.waiting) this.#listener?.(group, parts.count - 1, side, segment)
    parts.waiting = []
  }

  /** Ends the last hunk of a group at the current place. */
  #extend(group: ChangeGroup): void {
    const parts = this.#partsOf(group)
    parts.endsAt = this.#visible
    if (parts.last !== null) parts.last.end = this.#length
  }

  #partsOf = (group: ChangeGroup): GroupProgress => this.#parts.get(group) as GroupProgress
}

interface WalkedType {
  readonly type: SharedRoot
  readonly form: TypeForm
  readonly path: Path
  /** The group whose hunk already shows all its changes of the sequence; null if there is none. */
  readonly shown: ChangeGroup | null
  /** The same for entries and attributes. */
  readonly entriesShown: ChangeGroup | null
}

/** The items of an entry before and after a change; null without an entry. */
interface ChangedEntry {
  readonly before: Segment | null
  readonly after: Segment | null
}

const emptyParts = (): GroupProgress => ({
  hunks: [],
  count: 0,
  open: [],
  last: null,
  endsAt: -1,
  waiting: [],
})

const lastValue = (values: VersionValues, segment: Segment | null): Json | undefined =>
  segment === null ? undefined : values.of(segment.item, segment.offset + segment.length - 1, 1)[0]

/** Returns the name of an element or another shared type in a text; null for a text. */
function nameOfNode(type: object): string | null {
  if (type instanceof Y.XmlElement) return type.nodeName
  if (type instanceof Y.XmlHook) return type.hookName
  return type instanceof Y.Text ? null : type.constructor.name
}
