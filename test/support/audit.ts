import { type Engine, type Kv, StoreUnavailable } from '../../src/engine/engine.ts'

/** An engine that, once told to, fails to write the audit log, and nothing else. */
export function auditFailing(engine: Engine): { engine: Engine; fail: () => void } {
  let failing = false
  const kv: Kv = {
    get: (part, keys) => engine.kv.get(part, keys),
    scan: (part, range) => engine.kv.scan(part, range),
    commit: (part, commit) =>
      failing && part[0] === 'audit'
        ? Promise.reject(new StoreUnavailable('the test has the audit log fail'))
        : engine.kv.commit(part, commit),
  }
  const fail = () => {
    failing = true
  }
  return { engine: { ...engine, kv }, fail }
}
