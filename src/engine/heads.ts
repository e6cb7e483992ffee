import {
  type AppendOptions,
  AppendRefused,
  type AppendTo,
  type FormerLog,
  type LoadOptions,
  type LogHead,
} from './engine.ts'
import { anchorOf, baseOf, type Marks, noSnapshots } from './marks.ts'

/** Where a document stands. `head` is the last number given out. */
export type Standing =
  | { readonly state: 'absent' }
  | { readonly state: 'deleted'; readonly epoch: number }
  | { readonly state: 'live'; readonly epoch: number; readonly marks: Marks; readonly head: number }

export type LiveStanding = Extract<Standing, { state: 'live' }>

/** Null unless the document lives. */
export function headOf(standing: Standing): LogHead | null {
  if (standing.state !== 'live') return null
  const { epoch, head, marks } = standing
  return { epoch, head, base: baseOf(marks).seq, oldest: anchorOf(marks).seq }
}

export const absent: Standing = { state: 'absent' }

/** Epoch of a document's first log. */
const firstEpoch = 1

/** The log an append goes to, before the append. @throws AppendRefused */
export function admit(standing: Standing, to: AppendTo, { expectHead }: AppendOptions): LiveStanding {
  const log = typeof to === 'number' ? existing(standing, to) : created(standing, to)
  if (expectHead !== undefined && expectHead !== log.head) throw new AppendRefused('head')
  return log
}

function existing(standing: Standing, epoch: number): LiveStanding {
  if (standing.state !== 'live') throw new AppendRefused(standing.state)
  if (standing.epoch !== epoch) throw new AppendRefused('epoch')
  return standing
}

function created(standing: Standing, to: 'create' | 'recreate'): LiveStanding {
  if (standing.state === 'live') throw new AppendRefused('exists')
  if (standing.state === 'deleted' && to === 'create') throw new AppendRefused('deleted')
  const epoch = standing.state === 'deleted' ? standing.epoch + 1 : firstEpoch
  return { state: 'live', epoch, marks: noSnapshots, head: 0 }
}

/** What a compaction was asked for. */
export interface WantedBase {
  readonly epoch: number
  readonly expectBase: number
  readonly upTo: number
  readonly keepSince: number
}

/** May a snapshot of everything up to `upTo` become the base? */
export function mayCompact(
  standing: Standing,
  { epoch, expectBase, upTo }: WantedBase,
): standing is LiveStanding {
  if (standing.state !== 'live' || standing.epoch !== epoch) return false
  const base = baseOf(standing.marks).seq
  return base === expectBase && upTo > 0 && upTo >= base && upTo <= standing.head
}

/** Epochs and heads that an adopted log may have: some are left for what comes after. */
export const adoptedMax = 2 ** 52

/** Where a log stands that has been adopted; null where it may not be. @throws RangeError for numbers that no log has */
export function adopted(
  standing: Standing,
  log: FormerLog,
  now: number,
): Exclude<Standing, { state: 'absent' }> | null {
  const { epoch } = log
  for (const number of [epoch, log.state === 'live' ? log.head : 1])
    if (!Number.isInteger(number) || number < 1 || number > adoptedMax)
      throw new RangeError(`a log has no number ${number}`)
  if (standing.state === 'live' || (standing.state === 'deleted' && standing.epoch >= epoch)) return null
  if (log.state === 'deleted') return { state: 'deleted', epoch }
  return { state: 'live', epoch, marks: [{ seq: log.head, at: now }], head: log.head }
}

/** `since`, if it is a number of this log and every entry after it is still there; else null: all is loaded. */
export function honouredSince(log: LiveStanding, { since, epoch = log.epoch }: LoadOptions): number | null {
  if (since === undefined || epoch !== log.epoch) return null
  return since >= anchorOf(log.marks).seq && since <= log.head ? since : null
}

/** A version, and after which number to go on. */
export interface WantedVersion {
  readonly epoch: number
  readonly seq: number
  readonly after?: number | undefined
}

/** The number after which entries lead to a version: `after`, or that of a snapshot; null when they can't. */
export function rebuiltFrom(standing: Standing, { epoch, seq, after }: WantedVersion): number | null {
  if (standing.state !== 'live' || standing.epoch !== epoch || seq > standing.head) return null
  if (after !== undefined) return after >= anchorOf(standing.marks).seq && after <= seq ? after : null
  return standing.marks.findLast((mark) => mark.seq <= seq)?.seq ?? null
}

/** Documents that one call of `destroyPrefix` destroys. */
export const destroyedPerCallMax = 100
