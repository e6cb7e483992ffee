// An application that keeps its documents in SQLite. Weft asks it for the role of a user (authorize), for the
// content of a document that Weft does not have yet (load), and sends it the content after changes (store).
import express from 'express'
import sqlite from 'node-sqlite3-wasm'
import { verifyWebhook } from 'weft-server/client'

const tables = `
  CREATE TABLE IF NOT EXISTS documents (id TEXT PRIMARY KEY, body TEXT NOT NULL, version TEXT);
  CREATE TABLE IF NOT EXISTS members (document TEXT, user TEXT, role TEXT, PRIMARY KEY (document, user));
`

/** Opens the database of the application. */
export function openDatabase(file = ':memory:') {
  const database = new sqlite.Database(file)
  database.exec(tables)
  return database
}

/**
 * Returns the application.
 * @param secretOf returns the signing secret of the callbacks
 */
export function createApp(database, secretOf) {
  const answers = {
    authorize({ documentId, user }) {
      const sql = 'SELECT role FROM members WHERE document = ? AND user = ?'
      const member = database.get(sql, [documentId, user.userId])
      return { role: member?.role ?? null, ttlSeconds: 30 }
    },
    load({ documentId }) {
      const document = database.get('SELECT body FROM documents WHERE id = ?', [documentId])
      return document ? { type: 'markdown', data: document.body, contentKey: 'default' } : { notFound: true }
    },
    // A message can arrive twice. Writing the same content again changes nothing.
    store({ documentId, content, version }) {
      if (typeof content === 'string')
        database.run('UPDATE documents SET body = ?, version = ? WHERE id = ?', [
          content,
          version,
          documentId,
        ])
      return {}
    },
  }
  const app = express()
  async function answerCall({ headers, body }, response) {
    // Null if the signature or the age of the request is not valid.
    const call = await verifyWebhook(body, headers, secretOf()).catch(() => null)
    if (call === null) return response.sendStatus(401)
    const answer = Object.hasOwn(answers, call.callback) ? answers[call.callback] : null
    return answer === null ? response.sendStatus(404) : response.json(answer(call))
  }
  // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 handles the errors of async functions
  app.post('/weft', express.raw({ type: 'application/json', limit: '20mb' }), answerCall)
  // The pages of the application continue to read its own table.
  app.get('/documents/:id', (request, response) => {
    const document = database.get('SELECT body FROM documents WHERE id = ?', [request.params.id])
    return document ? response.type('text/plain').send(document.body) : response.sendStatus(404)
  })
  return app
}
