import { type Clock, systemClock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Engine } from '../engine.ts'
import { Gate } from '../gate.ts'
import { LocalBus } from '../local-bus.ts'
import { SingleNode } from '../single-node.ts'
import { LevelBlobs } from './blobs.ts'
import { GroupCommit, pendingBytesMax } from './commit.ts'
import { Disk, holdMsDefault } from './disk.ts'
import { dumpStore } from './dump.ts'
import { formatVersion, type OlderFormat } from './format.ts'
import { writeInventory } from './inventory.ts'
import { JobTable } from './job-table.ts'
import { LevelKv } from './kv.ts'
import { LevelLog } from './log.ts'
import { type Opening, openChecked } from './open.ts'
import { LevelQueue } from './queue.ts'
import { Rewriting } from './rewriting.ts'
import { type OpenStore, openLevelStore } from './store.ts'
import type { UpgradeProgress } from './upgrade-step.ts'

export interface LevelEngineOptions {
  /** Data directory; made if it is not there. What belongs to this engine is in its folder `store`. */
  readonly directory: string
  /** What an acknowledged write survives: loss of power (`disk`, the default) or the end of this process. */
  readonly durability?: 'disk' | 'process'
  readonly clock?: Clock
  readonly log?: Log
  /** Accepted but not yet durable bytes beyond which writes are refused with StoreUnavailable. Default 64 MB. */
  readonly pendingBytesMax?: number
  /** How long a failed write is tried again before StoreUnavailable. Default 30 s. */
  readonly holdMs?: number
  /** How the store is opened, at start and after failed writes: tests put faults in here. */
  readonly openStore?: OpenStore
  /** What becomes of a store of an older format. Default: it is upgraded, and the log says so. */
  readonly older?: OlderFormat
  /** How much of the files is looked at before. Default `start`. */
  readonly depth?: Opening['depth']
  /** What becomes of a store that is damaged. Default: it is opened. */
  readonly damaged?: Opening['damaged']
  /** What becomes of a store into which an import has not been ended. Default: it is refused. */
  readonly importing?: 'open' | 'refuse'
}

export interface LevelEngine extends Engine {
  /** What LevelDB said when it was opened: sentences about damage it found and left out. Empty when all is well. */
  readonly warnings: readonly string[]
}

/** The embedded engine: one process, one directory. @throws EngineOpenError */
export async function openLevelEngine(options: LevelEngineOptions): Promise<LevelEngine> {
  const { directory, clock = systemClock, log, openStore = openLevelStore } = options
  const { older = upgradeTelling(log), depth = 'start', damaged = 'open', importing = 'refuse' } = options
  const opening = { older, depth, damaged, importing }
  const { store, path, warnings } = await openChecked(directory, openStore, opening)
  for (const warning of warnings) log?.warn({ warning }, 'the store has been damaged')
  const gate = new Gate()
  const disk = new Disk({
    store,
    open: () => openStore(path),
    sync: options.durability !== 'process',
    holdMs: options.holdMs ?? holdMsDefault,
    clock,
    log,
    damages: warnings,
    onGivenUp: (error) => {
      for (const part of [parts.log, parts.kv, table]) part.forget()
      commit.abandon(error)
    },
  })
  const commit = new GroupCommit(disk, options.pendingBytesMax ?? pendingBytesMax)
  const table = new JobTable({ disk, commit, log })
  const queue = new LevelQueue({ gate, table, commit, clock })
  const rewriting = new Rewriting({ gate, commit, disk, clock, log })
  const parts = {
    queue,
    log: new LevelLog({ gate, disk, commit, queue, clock, rewriting }),
    kv: new LevelKv({ gate, disk, commit, queue }),
    blobs: new LevelBlobs({ gate, disk, commit }),
    bus: new LocalBus(clock),
    cluster: new SingleNode(),
  }
  let closing: Promise<void> | null = null
  return {
    ...parts,
    warnings,
    health: () => disk.health(),
    pendingBytes: () => commit.pendingBytes(),
    dump: () => ({ format: formatVersion, pages: dumpStore(gate, disk) }),
    close: () => {
      rewriting.stop()
      closing ??= closeAll({ gate, commit, disk, path })
      return closing
    },
  }
}

/** A line each time so much more is done. */
const upgradeLineEvery = 0.1

function upgradeTelling(log: Log | undefined): OlderFormat {
  let told = 0
  const onProgress: UpgradeProgress = (formats, share) => {
    if (share === 0) {
      told = 0
      log?.warn(
        formats,
        'the store is of an older format and is upgraded: to go back, restore a backup from before',
      )
    } else if (share >= Math.min(1, told + upgradeLineEvery)) {
      told = share
      log?.info({ ...formats, percent: Math.floor(share * 100) }, 'upgrading the store')
    }
  }
  return { do: 'upgrade', onProgress }
}

/** Calls under way first, then what they have written. */
async function closeAll({
  gate,
  commit,
  disk,
  path,
}: {
  gate: Gate
  commit: GroupCommit
  disk: Disk
  path: string
}): Promise<void> {
  await gate.close()
  await commit.durable().catch(() => undefined)
  const isSound = disk.health().ok
  await disk.close()
  // After a failed write the files are what they are: nothing is said about them.
  if (isSound) await writeInventory(path).catch(() => undefined)
}
