import { type Engine, type Kv, StoreUnavailableError } from '../../../src/engine/engine.ts'

/**
 * An engine that, after `fail`, rejects writes to partitions whose names begin with `name`, and no others.
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

/** An engine that, from `hold` until `release`, does not acknowledge writes to the audit log. */
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
    /** Resolves with the first commit that waits. */
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
