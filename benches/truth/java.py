"""A Java program that keeps orders of customers: small objects, a generational collector that moves them."""

from truth.program import Script

SCRIPT = '''
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Random;

/** Customers are looked up by zipf; one look-up in ten renews one of the orders. */
public class Orders {
    static final int CUSTOMERS = 250_000;

    record Line(String article, int count, double price) {}

    record Order(long number, List<Line> lines) {}

    static final class Customer {
        final String name;
        final ArrayList<Order> orders = new ArrayList<>();
        double sum;

        Customer(String name) { this.name = name; }
    }

    static Order order(long number, Random rng) {
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int article = rng.nextInt(5000);
            lines.add(new Line("article " + article, 1 + article % 7, article * 0.25));
        }
        return new Order(number, lines);
    }

    public static void main(String[] words) {
        Random rng = new Random(Long.parseLong(words[0]));
        double[] sums = new double[CUSTOMERS];
        double sum = 0;
        for (int rank = 0; rank < CUSTOMERS; rank++) {
            sum += Math.pow(rank + 1, -1.0);
            sums[rank] = sum;
        }
        HashMap<Integer, Customer> customers = new HashMap<>();
        long number = 0;
        for (int id = 0; id < CUSTOMERS; id++) {
            Customer customer = new Customer("customer " + id);
            for (int i = 0; i < 3; i++) {
                customer.orders.add(order(number++, rng));
            }
            customers.put(id, customer);
        }
        double all = 0;
        while (true) {
            int rank = java.util.Arrays.binarySearch(sums, rng.nextDouble() * sum);
            rank = Math.min(rank < 0 ? -rank - 1 : rank, CUSTOMERS - 1);
            Customer customer = customers.get((int) (rank * 7919L % CUSTOMERS));
            for (Order order : customer.orders) {
                for (Line line : order.lines()) {
                    all += line.count() * line.price();
                }
            }
            customer.sum += all;
            if (rng.nextInt(10) == 0) {
                customer.orders.set(rng.nextInt(3), order(number++, rng));
            }
        }
    }
}
'''


class Java(Script):
    """Objects of some 30 bytes, forty to a customer, in the old generation."""

    name = "java"
    about = "OpenJDK, serial collector, 250,000 customers of three orders, zipf 1.0, scattered, a tenth renewed"
    file = "Orders.java"
    text = SCRIPT
    packages = ("default-jdk-headless",)
    fill_seconds = 60

    def command(self, place):
        return ["java", "-XX:+UseSerialGC", "-Xms600m", "-Xmx600m", "-Xmn64m", str(self.script(place)), str(place.seed)]
