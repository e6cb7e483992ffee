// y-indexeddb keeps the document unencrypted in this browser profile until it is deleted. On a shared
// machine, the next user can read it, and sends the offline edits of the previous user under the wrong name.
// A user who loses access to a document also keeps the stored copy. If you know your users, put their id into
// the name of the database, call `forget` when they sign out, and keep nothing on public machines.
import * as decoding from 'lib0/decoding'
import { IndexeddbPersistence } from 'y-indexeddb'
import * as Y from 'yjs'

const messageSync = 0
const messageSyncStep1 = 0
/** The key under which y-indexeddb keeps the last known state vector of the server. */
const serverHad = 'server-had'

/** Keeps a document in this browser, so that offline edits survive a reload. */
export async function keepOffline(name, doc) {
  const kept = new IndexeddbPersistence(name, doc)
  await kept.whenSynced
  return kept
}

/** Deletes the kept document. Other windows may have the database open, so this empties it. */
export function forget({ db }) {
  const emptying = db.transaction(['updates', 'custom'], 'readwrite')
  for (const store of emptying.objectStoreNames) emptying.objectStore(store).clear()
  return ended(emptying)
}

/**
 * Sends kept content only to the document that it belongs to. A document that was deleted and created again
 * has the same name, and a merge would put the old text next to the new one. A server never loses a client of
 * a document. So if the server knows none of the clients of its last known state vector, it has another
 * document.
 */
export async function watchForAnother(provider, kept, onAnother) {
  const stored = await kept.get(serverHad)
  let had = stored === undefined ? new Map() : Y.decodeStateVector(stored)
  const readSync = provider.messageHandlers[messageSync]
  provider.messageHandlers[messageSync] = (encoder, decoder, ...rest) => {
    const ahead = decoding.clone(decoder)
    if (decoding.readVarUint(ahead) === messageSyncStep1) {
      // The first message of Weft, before either side sends content.
      const vector = decoding.readVarUint8Array(ahead)
      const has = Y.decodeStateVector(vector)
      if (had.size > 0 && ![...had.keys()].some((client) => has.has(client))) {
        provider.disconnect()
        onAnother()
        return
      }
      void remember(has, vector)
    }
    readSync(encoder, decoder, ...rest)
  }
  async function remember(has, vector) {
    if (has.size === 0) return
    had = has
    await write(kept, serverHad, vector)
  }
  return {
    /** Call when everything here is durable on the server. Waits until this browser has stored that fact. */
    async saved() {
      const vector = Y.encodeStateVector(provider.doc)
      await remember(Y.decodeStateVector(vector), vector)
    },
  }
}

/** Waits for the end of the transaction: `kept.set` resolves earlier, and a page that closes then loses it. */
function write({ db }, key, value) {
  const writing = db.transaction('custom', 'readwrite')
  writing.objectStore('custom').put(value, key)
  return ended(writing)
}

function ended(transaction) {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', resolve)
    for (const event of ['abort', 'error'])
      transaction.addEventListener(event, () => reject(transaction.error))
  })
}
