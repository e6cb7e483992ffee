import { type AppendOptions, AppendRefused, type AppendTo, type LoadOptions } from './engine.ts'

/** Where a document stands. `base` is what its snapshot covers, 0 without one; `head` the last number given out. */
export type Standing =
  | { readonly state: 'absent' }
  | { readonly state: 'deleted'; readonly epoch: number }
  | { readonly state: 'live'; readonly epoch: number; readonly base: number; readonly head: number }

export type LiveStanding = Extract<Standing, { state: 'live' }>

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
  return { state: 'live', epoch, base: 0, head: 0 }
}

/** May the entries up to `upTo` be replaced by a snapshot? */
export function mayCompact(
  standing: Standing,
  { epoch, expectBase, upTo }: { epoch: number; expectBase: number; upTo: number },
): standing is LiveStanding {
  if (standing.state !== 'live' || standing.epoch !== epoch || standing.base !== expectBase) return false
  return upTo > 0 && upTo >= standing.base && upTo <= standing.head
}

/** `since`, if it is a number of this log and every entry after it is still there; else null: all is loaded. */
export function honouredSince(log: LiveStanding, { since, epoch = log.epoch }: LoadOptions): number | null {
  if (since === undefined || epoch !== log.epoch) return null
  return since >= log.base && since <= log.head ? since : null
}

/** Documents that one call of `destroyPrefix` destroys. */
export const destroyedPerCallMax = 100
