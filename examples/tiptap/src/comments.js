import { anchorOf, rangeOf } from './anchors.js'
import { placeOf, setThreads, wordsOfThreads } from './highlights.js'
import { threadPanel } from './panel.js'

/** The comments of the page: the button, the form for a new one, the threads, and the highlighted words. */
export function comments({ editor, backend, at }) {
  const [button, form] = [at('comment'), at('new')]
  const [quote, text] = [form.querySelector('blockquote'), form.querySelector('textarea')]
  let anchor = null

  const panel = threadPanel(at('threads'), {
    reply: (annotationId, said) => backend('/weft/comments/reply', { annotationId, text: said }),
    resolve: (annotationId) => backend('/weft/comments/resolve', { annotationId, status: 'resolved' }),
    choose: goTo,
  })

  async function load() {
    const { result } = await backend('/weft/comments/get', { status: 'open' })
    // The others are comments on the whole document.
    const threads = result.data.threads.filter(({ anchor }) => anchor !== null).reverse()
    panel.show(threads)
    at('hint').hidden = threads.length > 0
    setThreads(editor, threads)
  }

  function goTo(id) {
    const place = placeOf(editor, id)
    if (place === undefined) return
    panel.highlight(id)
    editor.chain().focus().setTextSelection(place.from).scrollIntoView().run()
  }

  const close = () => {
    form.hidden = true
    form.reset()
  }

  button.addEventListener('click', () => {
    const { from, to } = editor.state.selection
    // Positions in the text are valid only now, because other users type while the comment is being written.
    anchor = anchorOf(editor.state, from, to)
    form.hidden = false
    text.focus()
    showWords()
  })
  form.querySelector('.plain').addEventListener('click', close)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    // After a failure, the form still has the text.
    void backend('/weft/comments/add', { anchor, text: text.value }).then(close)
  })

  function showWords() {
    panel.showWords(wordsOfThreads(editor))
    if (form.hidden) return
    const range = rangeOf(editor.state, anchor)
    quote.textContent = range === null ? '' : editor.state.doc.textBetween(range.from, range.to, ' ')
  }
  editor.on('transaction', () => {
    button.disabled = editor.state.selection.empty
    showWords()
  })

  return { load, highlight: panel.highlight }
}
