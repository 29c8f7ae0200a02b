// Connection to a game on the server: messages by a web socket, reopened when it breaks.

export class Connection {
  constructor(id, onMessage, onStatus = () => {}) {
    this.id = id;
    this.onMessage = onMessage;
    this.onStatus = onStatus;
    this.closed = false;
    this.wait = 500;
    this.open();
  }

  open() {
    const address = new URL(`/ws/${this.id}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    address.hash = "";
    this.socket = new WebSocket(address);
    this.socket.addEventListener("open", () => {
      this.wait = 500;
      this.onStatus(true);
    });
    this.socket.addEventListener("message", (event) => this.onMessage(JSON.parse(event.data)));
    this.socket.addEventListener("close", (event) => {
      if (this.closed) return;
      if (event.code === 4404) {
        this.onMessage({ type: "closed" });
        return;
      }
      this.onStatus(false);
      setTimeout(() => !this.closed && this.open(), this.wait);
      this.wait = Math.min(8000, 2 * this.wait);
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
