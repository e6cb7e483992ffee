import { type Engine, type Kv, StoreUnavailableError } from '../../../src/core/store/engine.ts'

/**
 * Returns an engine that rejects writes after `fail` is called. It rejects only writes to partitions whose
 * first segment is `name`.
 */
export function failingIn(name: string, engine: Engine): { engine: Engine; fail: () => void } {
  let failing = false
  const kv: Kv = {
    get: (part, keys) => engine.kv.get(part, keys),
    scan: (part, range) => engine.kv.scan(part, range),
    commit: (part, commit) =>
      failing && part[0] === name
        ? Promise.reject(new StoreUnavailableError(`the test has ${name} fail`))
        : engine.kv.commit(part, commit),
  }
  const fail = () => {
    failing = true
  }
  return { engine: { ...engine, kv }, fail }
}

/**
 * Returns an engine that delays the acknowledgment of writes to the audit log from `hold` until `release`.
 */
export function auditHeld(engine: Engine) {
  let gate: Promise<void> | null = null
  let open = (): void => {}
  let isHeld = (): void => {}
  const kv: Kv = {
    get: (part, keys) => engine.kv.get(part, keys),
    scan: (part, range) => engine.kv.scan(part, range),
    commit: async (part, commit) => {
      const done = await engine.kv.commit(part, commit)
      if (part[0] !== 'audit' || gate === null) return done
      isHeld()
      await gate
      return done
    },
  }
  return {
    engine: { ...engine, kv },
    /** Starts to delay acknowledgments. Resolves when the first commit is waiting. */
    hold: (): Promise<void> => {
      gate = new Promise((resolve) => {
        open = resolve
      })
      return new Promise((resolve) => {
        isHeld = resolve
      })
    },
    release: (): void => {
      gate = null
      open()
    },
  }
}
