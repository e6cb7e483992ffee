import './style.css'

export const metadata = { title: 'Tiptap on Weft', icons: 'data:,' }

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
