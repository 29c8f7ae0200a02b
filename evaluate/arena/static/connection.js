// Connection to a game on the server: messages by a web socket, reopened when it breaks.

const FIRST_WAIT = 500; // milliseconds until the socket is reopened; doubled at each failure
const MAX_WAIT = 8000;
const BOARD_CLOSED = 4404; // close code of the socket of a closed game, as in server.py

export class Connection {
  // `onMessage(message)` is called with each message, `onStatus(isOpen)` at each change.
  constructor(id, onMessage, onStatus = () => {}) {
    this.id = id;
    this.onMessage = onMessage;
    this.onStatus = onStatus;
    this.closed = false;
    this.wait = FIRST_WAIT;
    this.open();
  }

  open() {
    const address = new URL(`/ws/${this.id}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    address.hash = "";
    this.socket = new WebSocket(address);
    this.socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.onStatus(true);
    });
    this.socket.addEventListener("message", (event) => this.onMessage(JSON.parse(event.data)));
    this.socket.addEventListener("close", (event) => {
      if (this.closed) return;
      if (event.code === BOARD_CLOSED) {
        this.onMessage({ type: "closed" });
        return;
      }
      this.onStatus(false);
      setTimeout(() => !this.closed && this.open(), this.wait);
      this.wait = Math.min(MAX_WAIT, 2 * this.wait);
    });
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  close() {
    this.closed = true;
    this.socket.close();
  }
}

// Sends `body` as JSON, or `text`; returns the response as JSON or text, or throws its error.
export async function request(path, { method = "GET", body = undefined, text = undefined } = {}) {
  const options = { method, headers: {} };
  if (body !== undefined) options.body = JSON.stringify(body);
  if (text !== undefined) options.body = text;
  const response = await fetch(path, options);
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  const content = isJson ? await response.json() : await response.text();
  if (!response.ok) throw new Error(content.error ?? response.statusText);
  return content;
}
