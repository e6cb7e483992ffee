import type { DocumentLog } from '../../../src/core/store/engine.ts'

/** Returns a log that passes all calls on to `log`. A test can then replace single methods. */
export const delegatedLog = (log: DocumentLog): DocumentLog => ({
  append: (...parameters) => log.append(...parameters),
  load: (...parameters) => log.load(...parameters),
  loadAt: (...parameters) => log.loadAt(...parameters),
  heads: (...parameters) => log.heads(...parameters),
  list: (...parameters) => log.list(...parameters),
  compact: (...parameters) => log.compact(...parameters),
  destroy: (...parameters) => log.destroy(...parameters),
  destroyPrefix: (...parameters) => log.destroyPrefix(...parameters),
})
