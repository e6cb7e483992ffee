const element = (name, text, className = '') => {
  const made = document.createElement(name)
  made.className = className
  made.textContent = text
  return made
}

/**
 * Shows the threads next to the text. Each thread keeps its element between calls of `show`, so that
 * unfinished replies stay.
 * @param on `{ reply(id, text), resolve(id), choose(id) }`
 */
export function threadPanel(list, on) {
  const cards = new Map()

  function cardOf(id) {
    const card = element('li', '', 'thread')
    const quote = element('blockquote', '')
    const comments = element('div', '')
    const form = document.createElement('form')
    const input = Object.assign(element('input', ''), {
      placeholder: 'Reply',
      required: true,
      maxLength: 5000,
    })
    input.setAttribute('aria-label', 'reply')
    const done = Object.assign(element('button', 'Resolve', 'plain'), { type: 'button' })
    form.append(input, element('button', 'Reply'), done)
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void on.reply(id, input.value).then(() => form.reset())
    })
    done.addEventListener('click', () => void on.resolve(id))
    quote.addEventListener('click', () => on.choose(id))
    card.append(quote, comments, form)
    return { card, quote, comments }
  }

  function show(threads) {
    const ids = new Set(threads.map(({ annotationId }) => annotationId))
    for (const [id, { card }] of cards) {
      if (ids.has(id)) continue
      card.remove()
      cards.delete(id)
    }
    for (const { annotationId: id, comments } of threads) {
      const known = cards.get(id) ?? cardOf(id)
      if (!cards.has(id)) list.append(known.card)
      cards.set(id, known)
      known.comments.replaceChildren(
        ...comments.map(({ from, text }) => {
          const comment = element('p', '')
          comment.append(element('strong', from.name ?? from.userId), ` ${text}`)
          return comment
        }),
      )
    }
  }

  /** @param words the present words of each thread by id */
  function showWords(words) {
    for (const [id, { quote }] of cards) {
      const text = words.get(id) ?? ''
      quote.textContent = text === '' ? 'These words are gone.' : text
      quote.classList.toggle('gone', text === '')
    }
  }

  function highlight(id) {
    for (const [each, { card }] of cards) card.classList.toggle('chosen', each === id)
    cards.get(id)?.card.scrollIntoView({ block: 'nearest' })
  }

  return { show, showWords, highlight }
}
