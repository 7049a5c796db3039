#!/bin/sh
# A checkout by curl alone: the shop opens it, the payer's app pays it by mobile bank, and the shop learns that it is paid.
# usage: checkout.sh ORDER PHONE    asks for the code from the message; with KASSA_SERVER_URL and KASSA_API_KEY
set -eu
order=$1
phone=$2

# --8<-- [start:ask]
# Asks the server with a key that stands in no argument, where every user of the machine could read it.
# usage: ask KEY PATH [CURL ARGUMENT...]
ask() (
    key=$1
    path=$2
    shift 2
    printf 'header = "Authorization: Bearer %s"\n' "$key" |
        curl --silent --show-error --fail-with-body --config - "$@" "$KASSA_SERVER_URL$path"
)
# --8<-- [end:ask]

# --8<-- [start:open]
# The shop says what is to be paid. The same reference with the same content gives the same checkout, however often it is sent.
wanted='{"reference": "'$order'", "amount": "390", "description": "A jar of honey", "return_url": "https://shop.example.kg/paid"}'
checkout=$(ask "$KASSA_API_KEY" /v1/checkouts --header 'Content-Type: application/json' --data "$wanted")
id=$(echo "$checkout" | grep -o 'co_[0-9a-f]*' | head -1)
echo "$checkout" | grep -o '"page_url":"[^"]*"' # a browser pays there, and needs nothing of what follows
# --8<-- [end:open]

# --8<-- [start:pay]
# The shop makes a token for its app. It opens this checkout and nothing else.
token=$(ask "$KASSA_API_KEY" "/v1/checkouts/$id/tokens" --request POST | grep -o 'ct_[^"]*')

# The app begins a payment. The same Idempotency-Key with the same body gives the same answer: trying again pays nothing twice.
payment=$(ask "$token" /v1/checkout/payments --header "Idempotency-Key: $order-1" \
    --header 'Content-Type: application/json' --data '{"method": "mbank", "phone": "'"$phone"'"}' | grep -o 'pay_[0-9a-f]*' | head -1)

printf 'The code from the SMS? '
read -r otp
ask "$token" "/v1/checkout/payments/$payment/confirm" --header "Idempotency-Key: $order-otp-1" \
    --header 'Content-Type: application/json' --data '{"otp": "'"$otp"'"}' --output /dev/null
# --8<-- [end:pay]

# --8<-- [start:wait]
# A long poll answers as soon as something has changed. A shop with an address of its own is told by an event instead.
version=0
state=open
while [ "$state" = open ]; do
    checkout=$(ask "$KASSA_API_KEY" "/v1/checkouts/$id?after=$version&wait=25")
    version=$(echo "$checkout" | grep -o '"version":[0-9]*' | cut -d : -f 2)
    state=$(echo "$checkout" | grep -oE '"state":"(open|paid|expired|cancelled)"' | head -1 | cut -d '"' -f 4)
done
echo "$state" # paid: deliver
# --8<-- [end:wait]
