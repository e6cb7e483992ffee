// What y-indexeddb keeps is for whoever uses this browser profile, unencrypted, until it is deleted. On a machine that
// several people share the next one reads it, and sends what the one before has typed offline under their own name; and
// whoever loses the right to a document keeps what was here. Where you know your users have their id in the name of the
// database, call `forget` when they sign out, and keep nothing at all on machines that are nobody's.
import * as decoding from 'lib0/decoding'
import { IndexeddbPersistence } from 'y-indexeddb'
import * as Y from 'yjs'

const messageSync = 0
const messageSyncStep1 = 0
/** Under which y-indexeddb keeps for us what the server had when we last heard of it. */
const serverHad = 'server-had'

/** Keeps a document in this browser, so that what is typed offline outlives a reload. */
export async function keepOffline(name, doc) {
  const kept = new IndexeddbPersistence(name, doc)
  await kept.whenSynced
  return kept
}

/** Removes what is kept. Other windows may have it open, so it is emptied, not deleted. */
export function forget({ db }) {
  const emptying = db.transaction(['updates', 'custom'], 'readwrite')
  for (const store of emptying.objectStoreNames) emptying.objectStore(store).clear()
  return new Promise((resolve, reject) => {
    emptying.addEventListener('complete', resolve)
    emptying.addEventListener('error', () => reject(emptying.error))
  })
}

/**
 * Sees to it that what is kept goes to the document that it is of. One that was deleted and made anew at the server has
 * the same name; merged with it, the old text would come back beside the new one. What a server has had it never loses,
 * so: if it knows nobody of those who wrote what it had when we last heard of it, it is another document.
 */
export async function watchForAnother(provider, kept, onAnother) {
  const stored = await kept.get(serverHad)
  let had = stored === undefined ? new Map() : Y.decodeStateVector(stored)
  const readSync = provider.messageHandlers[messageSync]
  provider.messageHandlers[messageSync] = (encoder, decoder, ...rest) => {
    const ahead = decoding.clone(decoder)
    if (decoding.readVarUint(ahead) === messageSyncStep1) {
      // Weft's first message, before anything of either side is shown to the other.
      const vector = decoding.readVarUint8Array(ahead)
      const has = Y.decodeStateVector(vector)
      if (had.size > 0 && ![...had.keys()].some((client) => has.has(client))) {
        provider.disconnect()
        onAnother()
        return
      }
      remember(has, vector)
    }
    readSync(encoder, decoder, ...rest)
  }
  function remember(has, vector) {
    if (has.size === 0) return
    had = has
    void kept.set(serverHad, vector)
  }
  return {
    /** To be called when all that is here is on the server's disk. */
    saved() {
      const vector = Y.encodeStateVector(provider.doc)
      remember(Y.decodeStateVector(vector), vector)
    },
  }
}
