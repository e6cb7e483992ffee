import { render } from 'preact'
import { PlaygroundApp } from './app.tsx'

const place = document.getElementById('app')
// Until now it says what to do where this script never runs.
place?.replaceChildren()
if (place !== null) render(<PlaygroundApp />, place)
// A link that is opened in a window of the playground changes its address only: who comes in is asked anew.
addEventListener('hashchange', () => location.reload())
