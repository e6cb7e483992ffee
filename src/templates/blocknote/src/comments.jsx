import { useEffect, useState } from 'react'
import { encodeAnchor, useComments } from 'weft-server/react'
import { absolutePositionToRelativePosition, ySyncPluginKey } from 'y-prosemirror'

/** Shows the comments of the document. A new one is about the selected text, or about the whole document. */
export function Comments({ editor }) {
  const { threads, error, canComment, hasMore, loadMore, loadComments, add, reply, resolve } = useComments()
  const [selected, setSelected] = useState('')
  const [problem, setProblem] = useState(null)
  useEffect(() => editor.onSelectionChange(() => setSelected(editor.getSelectedText())), [editor])

  /** Shows why a change has failed. Returns whether the server has stored it. */
  const stored = async (change) => {
    const failure = await change.then(() => null).catch(({ message }) => message)
    setProblem(failure)
    return failure === null
  }
  return (
    <aside id="comments">
      <h2>Comments</h2>
      <p role="alert">{problem ?? error?.message}</p>
      {hasMore && (
        <button type="button" onClick={loadMore}>
          Older comments
        </button>
      )}
      {threads.map(({ annotationId, status, quote, comments, commentCount }) => (
        <article key={annotationId} className={status}>
          {quote && <q>{quote}</q>}
          {comments.map(({ commentId, from, text }) => (
            <p key={commentId}>
              <b>{from.name}</b> {text}
            </p>
          ))}
          {comments.length < commentCount && (
            <button type="button" onClick={() => loadComments(annotationId)}>
              All {commentCount} comments
            </button>
          )}
          {status === 'resolved' && <i>Resolved</i>}
          {status === 'open' && canComment && (
            <>
              <TextForm label="Reply" onSend={(text) => stored(reply(annotationId, text))} />
              <button type="button" onClick={() => stored(resolve(annotationId))}>
                Resolve
              </button>
            </>
          )}
        </article>
      ))}
      {canComment && (
        <>
          {selected ? <q id="selected">{selected}</q> : 'The whole document'}
          <TextForm
            label="Comment"
            onSend={(text) => stored(add(text, selected ? anchorOf(editor) : undefined))}
          />
        </>
      )}
    </aside>
  )
}

function TextForm({ label, onSend }) {
  const [text, setText] = useState('')
  const send = async (event) => {
    event.preventDefault()
    if (await onSend(text)) setText('')
  }
  return (
    <form onSubmit={send}>
      <input aria-label={label} value={text} onChange={({ target }) => setText(target.value)} required />
      <button type="submit">{label}</button>
    </form>
  )
}

/** Returns the place of the selected text. It stays at the text when users change the document. */
function anchorOf({ prosemirrorState: state }) {
  const { type, binding } = ySyncPluginKey.getState(state)
  const [start, end] = [state.selection.from, state.selection.to].map((position) =>
    absolutePositionToRelativePosition(position, type, binding.mapping),
  )
  return encodeAnchor(start, end, 'blocknote')
}
