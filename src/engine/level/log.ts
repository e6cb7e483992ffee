import type { Clock } from '../../clock.ts'
import type {
  Appended,
  AppendOptions,
  AppendTo,
  DestroyOptions,
  DocumentLog,
  FormerLog,
  Key,
  LoadAtOptions,
  LoadedLog,
  LoadedVersion,
  LoadOptions,
  LogHead,
  LogUpdate,
} from '../engine.ts'
import type { Gate } from '../gate.ts'
import { destroyedPerCallMax, headOf, type Standing } from '../heads.ts'
import { decodeKey, keyRange } from '../keys.ts'
import { DamagedRecord, named } from '../named-damage.ts'
import { Adoption } from './adoption.ts'
import { Appends } from './appends.ts'
import type { GroupCommit } from './commit.ts'
import { Compaction } from './compaction.ts'
import type { Disk } from './disk.ts'
import { Documents, keysOf, readStandingNow } from './documents.ts'
import type { LevelQueue } from './queue.ts'
import { readLog, readVersion } from './read-log.ts'
import { decodeHead } from './records.ts'
import { Removal } from './removal.ts'
import type { Rewriting } from './rewriting.ts'
import { spaces } from './spaces.ts'

export interface LogParts {
  readonly gate: Gate
  readonly disk: Disk
  readonly commit: GroupCommit
  readonly queue: LevelQueue
  readonly clock: Clock
  readonly rewriting: Rewriting
}

export class LevelLog implements DocumentLog {
  readonly #gate: Gate
  readonly #disk: Disk
  readonly #documents: Documents
  readonly #appends: Appends
  readonly #compaction: Compaction
  readonly #removal: Removal
  readonly #adoption: Adoption

  constructor({ gate, disk, commit, queue, clock, rewriting }: LogParts) {
    this.#gate = gate
    this.#disk = disk
    this.#documents = new Documents(disk)
    this.#appends = new Appends({ gate, documents: this.#documents, commit, queue, clock })
    const shared = { documents: this.#documents, commit, disk, clock, rewriting }
    this.#compaction = new Compaction({ gate, ...shared })
    this.#removal = new Removal(shared)
    this.#adoption = new Adoption(shared)
  }

  append(
    doc: Key,
    to: AppendTo,
    updates: readonly LogUpdate[],
    options: AppendOptions = {},
  ): Promise<Appended> {
    if (!this.#gate.isOpen) return this.#gate.refuse()
    return this.#appends.append(doc, to, updates, options)
  }

  load(doc: Key, options: LoadOptions = {}): Promise<LoadedLog> {
    return this.#run('document', doc, async () => {
      const keys = keysOf(doc)
      return this.#disk.read((store) => readLog(store, keys, options))
    })
  }

  loadAt(doc: Key, epoch: number, seq: number, options: LoadAtOptions = {}): Promise<LoadedVersion | null> {
    return this.#run('document', doc, async () => {
      const keys = keysOf(doc)
      return this.#disk.read((store) => readVersion(store, keys, { ...options, epoch, seq }))
    })
  }

  heads(docs: readonly Key[]): Promise<readonly (LogHead | null)[]> {
    return this.#gate.run(() => Promise.all(docs.map((doc) => this.#head(doc))))
  }

  async list(prefix: Key, options: { after?: Key; limit: number }): Promise<readonly Key[]> {
    return (await this.#list(prefix, options)).map(({ doc }) => doc)
  }

  #list(
    prefix: Key,
    { after, limit }: { after?: Key | undefined; limit: number },
  ): Promise<readonly Listed[]> {
    return this.#run('documents under', prefix, async () => {
      const range = keyRange(spaces.heads, { prefix, after })
      return this.#disk.read(async (store) => {
        const found: Listed[] = []
        if (limit <= 0) return found
        for await (const page of store.pages(range)) {
          for (const [key, value] of page) {
            const head = listed(key, value)
            if (head !== null) found.push(head)
            if (found.length >= limit) return found
          }
        }
        return found
      })
    })
  }

  compact(
    doc: Key,
    epoch: number,
    expectBase: number,
    upTo: number,
    snapshot: Uint8Array,
    keepSince: number,
  ): Promise<boolean> {
    const wanted = { epoch, expectBase, upTo, keepSince }
    return this.#run('document', doc, () => this.#compaction.compact(doc, wanted, snapshot))
  }

  adopt(doc: Key, log: FormerLog): Promise<boolean> {
    return this.#run('document', doc, () => this.#adoption.adopt(doc, log))
  }

  destroy(doc: Key): Promise<void> {
    return this.#run('document', doc, () => this.#removal.destroy(doc))
  }

  async destroyPrefix(prefix: Key, { after, confirm }: DestroyOptions = {}): Promise<Key | null> {
    const found = await this.#list(prefix, { after, limit: destroyedPerCallMax })
    await confirm?.()
    const destroy = ({ doc, epoch }: Listed) =>
      this.#run('document', doc, () => this.#removal.destroy(doc, epoch))
    await Promise.all(found.map(destroy))
    return found.length < destroyedPerCallMax ? null : (found.at(-1)?.doc ?? null)
  }

  /** After a write whose outcome is unknown. */
  forget(): void {
    this.#documents.forget()
  }

  #run<T>(what: string, key: Key, call: () => Promise<T>): Promise<T> {
    return this.#gate.run(() => named(what, key, call))
  }

  /** What memory knows counts only while no append is on its way. */
  async #head(doc: Key): Promise<LogHead | null> {
    const known = this.#documents.settled(doc)
    return headOf(known ?? (await named('document', doc, () => this.#read(doc))))
  }

  async #read(doc: Key): Promise<Standing> {
    const keys = keysOf(doc)
    return this.#disk.read((store) => readStandingNow(store, keys))
  }
}

interface Listed {
  readonly doc: Key
  /** Undefined where it cannot be read. */
  readonly epoch: number | undefined
}

/** A damaged head counts as live: whoever loads the document is told, and the others are found all the same. */
function listed(key: Buffer, value: Buffer): Listed | null {
  const doc = decodeKey(key.subarray(spaces.heads.length))
  try {
    const { state, epoch } = decodeHead(key, value)
    return state === 'live' ? { doc, epoch } : null
  } catch (error) {
    if (error instanceof DamagedRecord) return { doc, epoch: undefined }
    throw error
  }
}
